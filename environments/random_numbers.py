"""Random numbers of many generators at once: the same as NumPy's, to the last bit, in a fraction of the time.

The levels and the noise of a world come from `streams.generator`: a seed sequence, PCG64 and, for normal numbers, the
ziggurat method. NumPy hashes a seed in Python and calls PCG64 through a pointer for every number. Here all of it is one
compiled function, so that threads that draw worlds do not wait for each other either.
"""

from math import exp, log1p
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from ravenlab.common.compat.numba import ziggurat_tables, ziggurat_tail
from ravenlab.common.compiled import compiled, inner_inlined
from ravenlab.environments.streams import spawn_key
from ravenlab.environments.world import Floats

ZERO = np.uint64(0)
ONE = np.uint64(1)
BITS = np.uint64(0xFFFFFFFF)
QUARTER, HALF, LAST_BIT, WHOLE = np.uint64(16), np.uint64(32), np.uint64(63), np.uint64(64)  # numbers of bits
NUMBERED_REPLICATIONS = 2**32  # those whose number is one word of the seed sequence

# SeedSequence: words of its pool, start values and factors of its two hashes, and factors of the mixture.
POOL = 4
HASH = np.uint64(0x43B0D7E5)
HASH_FACTOR = np.uint64(0x931E8875)
OUTPUT_HASH = np.uint64(0x8B51F9DD)
OUTPUT_FACTOR = np.uint64(0x58F38DED)
LEFT_FACTOR = np.uint64(0xCA01F9DD)
RIGHT_FACTOR = np.uint64(0x4973F715)

# PCG64: its factor of 128 bits, the position of the rotation, and the step between two uniform numbers.
FACTOR_HIGH = np.uint64(0x2360ED051FC65DA4)
FACTOR_LOW = np.uint64(0x4385DF649FCCF645)
ROTATION = np.uint64(58)
UNIFORM_BITS = np.uint64(11)
UNIFORM_STEP = 2.0**-53

# Ziggurat: parts of a random number, the start of the tail, and tables of its layers.
LAYER, SIGN, FRACTION, TAIL_SIGN = (np.uint64(bits) for bits in (0xFF, 0x100, 0x000FFFFFFFFFFFFF, 0x100))
FRACTION_BITS = np.uint64(9)
TAIL, INVERSE_TAIL = ziggurat_tail()
TABLES = ziggurat_tables()


def draw_numbers(seed: int, stream: int, first: int, key: str, normal: bool, out: Floats) -> None:
    """Write normal or uniform numbers of replications first, first + 1, … to the rows of an array.

    >>> from ravenlab.environments.streams import generator
    >>> out = np.empty((2, 3))
    >>> draw_numbers(7, 1, 4, "noise", True, out)
    >>> bool((out[1] == generator(7, 1, 5, "noise").standard_normal(3)).all())
    True
    """
    words = [seed & 0xFFFFFFFF]
    while seed := seed >> 32:
        words.append(seed & 0xFFFFFFFF)
    words += [0] * (POOL - len(words))
    place = len(words) + 1
    words += spawn_key(stream, first, key)
    pool = np.empty(3 * POOL, dtype=np.uint64)
    fill_numbers(np.array(words, dtype=np.uint64), place, pool, *TABLES, normal, out)


@intrinsic
def multiply_high(context, a, b):  # type: ignore[no-untyped-def]
    """Return the upper half of the product of two numbers of 64 bits."""

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        wide = ir.IntType(128)
        a, b = (builder.zext(argument, wide) for argument in arguments)
        return builder.trunc(builder.lshr(builder.mul(a, b), wide(64)), ir.IntType(64))

    return types.uint64(types.uint64, types.uint64), generate


@inner_inlined
def hash_word(value, state, factor):  # type: ignore[no-untyped-def]
    """Hash a word of 32 bits; return it and the next state of the hash."""
    after = (state * factor) & BITS
    value = ((value ^ state) * after) & BITS
    return value ^ (value >> QUARTER), after


@inner_inlined
def step(high, low, increment_high, increment_low):  # type: ignore[no-untyped-def]
    """Return the next state of PCG64, a linear congruence modulo 2^128, in two halves."""
    carry: Any = multiply_high(low, FACTOR_LOW)  # type: ignore[call-arg]
    next_low = low * FACTOR_LOW + increment_low
    carry += ONE if next_low < increment_low else ZERO
    return carry + high * FACTOR_LOW + low * FACTOR_HIGH + increment_high, next_low


@inner_inlined
def output(high, low):  # type: ignore[no-untyped-def]
    """Return the 64 random bits of a state of PCG64."""
    value = high ^ low
    turn = high >> ROTATION
    return (value >> turn) | (value << ((WHOLE - turn) & LAST_BIT))


@inner_inlined
def uniform_of(high, low):  # type: ignore[no-untyped-def]
    """Return the uniform number of a state of PCG64."""
    return np.float64(output(high, low) >> UNIFORM_BITS) * UNIFORM_STEP


@compiled
def fill_numbers(words, place, pool, limits, widths, heights, normal, out):  # type: ignore[no-untyped-def]
    """Write normal or uniform numbers to each row of an array.

    The words of the seed sequence hold the replication of the first row at `place`. `pool` is working memory; `limits`,
    `widths` and `heights` are the tables of the ziggurat method.
    """
    for r in range(out.shape[0]):
        state = HASH
        for i in range(POOL):
            pool[i], state = hash_word(words[i], state, HASH_FACTOR)
        for i in range(words.shape[0]):
            for j in range(POOL):
                if i != j:
                    value, state = hash_word(pool[i] if i < POOL else words[i], state, HASH_FACTOR)
                    value = (LEFT_FACTOR * pool[j] - RIGHT_FACTOR * value) & BITS
                    pool[j] = value ^ (value >> QUARTER)
        state = OUTPUT_HASH
        for i in range(2 * POOL):
            pool[POOL + i], state = hash_word(pool[i % POOL], state, OUTPUT_FACTOR)
        start_high = pool[4] | (pool[5] << HALF)
        start_low = pool[6] | (pool[7] << HALF)
        sequence_high = pool[8] | (pool[9] << HALF)
        sequence_low = pool[10] | (pool[11] << HALF)
        add_high = (sequence_high << ONE) | (sequence_low >> LAST_BIT)
        add_low = (sequence_low << ONE) | ONE
        high, low = step(ZERO, ZERO, add_high, add_low)
        low += start_low
        high += start_high + (ONE if low < start_low else ZERO)
        high, low = step(high, low, add_high, add_low)
        for t in range(out.shape[1]):
            while True:
                high, low = step(high, low, add_high, add_low)
                if not normal:
                    x = uniform_of(high, low)
                    break
                bits = output(high, low)
                layer = np.int64(bits & LAYER)
                fraction = (bits >> FRACTION_BITS) & FRACTION
                x = np.float64(fraction) * widths[layer]
                x = -x if bits & SIGN else x
                if fraction < limits[layer]:
                    break
                high, low = step(high, low, add_high, add_low)
                uniform = uniform_of(high, low)
                if layer > 0:
                    if (heights[layer - 1] - heights[layer]) * uniform + heights[layer] < exp(-0.5 * x * x):
                        break
                else:
                    while True:
                        beyond = -INVERSE_TAIL * log1p(-uniform)
                        high, low = step(high, low, add_high, add_low)
                        y = -log1p(-uniform_of(high, low))
                        if y + y > beyond * beyond:
                            break
                        high, low = step(high, low, add_high, add_low)
                        uniform = uniform_of(high, low)
                    x = -(TAIL + beyond) if fraction & TAIL_SIGN else TAIL + beyond
                    break
            out[r, t] = x
        words[place] += ONE
