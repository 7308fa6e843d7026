"""Names of arms."""

from collections import Counter
from collections.abc import Iterable, Mapping

import numpy as np

from ravenlab.common.errors import InputError, unknown_name
from ravenlab.common.text import escape_unprintable, shorten_value


def check_names(names: object, arms: int) -> tuple[str, ...]:
    """Return the names of arms; raise InputError unless they are distinct texts, one per arm.

    >>> check_names(["north", "south"], 2)
    ('north', 'south')
    """
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise InputError(f"names must be a sequence of texts but got {shorten_value(names)}.", field="names")
    texts = tuple(names)
    if len(texts) != arms:
        raise InputError(f"names must have one text for each of the {arms} arms but got {len(texts)}.", field="names")
    for name in texts:
        if not isinstance(name, str) or not name:
            raise InputError(f"names must be texts that are not empty but got {shorten_value(name)}.", field="names")
    ((most_frequent, count),) = Counter(texts).most_common(1)
    if count > 1:
        raise InputError(f"names must be distinct but {shorten_value(most_frequent)} is repeated.", field="names")
    return tuple(str(name) for name in texts)


def find_arm(arm: int | str, arms: int, numbers: Mapping[str, int]) -> int:
    """Return the number of an arm given by name or number; `numbers` is empty if arms have no names.

    >>> find_arm("south", 2, {"north": 0, "south": 1}), find_arm(1, 2, {})
    (1, 1)
    """
    if numbers and isinstance(arm, str):
        if arm not in numbers:
            raise unknown_name("arm", arm, [escape_unprintable(name) for name in numbers])
        return numbers[arm]
    if isinstance(arm, bool) or not isinstance(arm, int | np.integer) or not 0 <= arm < arms:
        names = "one of the names or " if numbers else ""
        raise InputError(f"arm must be {names}a whole number from 0 to {arms - 1} but got {arm!r}.")
    number = int(arm)
    if numbers.get(str(number), number) != number:
        raise InputError(f"arm {number} is ambiguous: {str(number)!r} is the name of another arm; give a name.")
    return number
