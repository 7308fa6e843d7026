"""Matrix products, inverses and convolutions that give the same bits everywhere.

NumPy's `@` and `linalg` call a BLAS library, whose results differ in the last digit between processors and numbers of
threads, and so do NumPy's products of complex numbers. Studies are exported to the last digit, so whatever reaches a
result uses these functions, which add real numbers in a fixed order. Matrices are small here: a handful of columns, or
a few million products.
"""

import numpy as np

from ravenlab.common.arrays import Floats


def multiply(left: Floats, right: Floats) -> Floats:
    """Return the matrix product of left [..., n, m] and right [..., m, k] or [m].

    >>> multiply(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([1.0, 10.0])).tolist()
    [21.0, 43.0]
    """
    return np.asarray(np.einsum("...ij,j->...i" if right.ndim == 1 else "...ij,...jk->...ik", left, right))


def cholesky(matrices: Floats) -> Floats:
    """Return the lower triangular roots of positive definite matrices [..., n, n].

    >>> cholesky(np.array([[4.0, 2.0], [2.0, 5.0]])).tolist()
    [[2.0, 0.0], [1.0, 2.0]]
    """
    root = np.zeros_like(matrices)
    for j in range(matrices.shape[-1]):
        rest = matrices[..., j:, j] - (root[..., j:, :j] * root[..., None, j, :j]).sum(axis=-1)
        root[..., j:, j] = rest / np.sqrt(rest[..., :1])
    return root


def invert(matrices: Floats) -> Floats:
    """Return the inverses of positive definite matrices [..., n, n].

    >>> invert(np.array([[4.0, 0.0], [0.0, 16.0]])).tolist()
    [[0.25, 0.0], [0.0, 0.0625]]
    """
    root = cholesky(matrices)
    size = matrices.shape[-1]
    inverse_root = np.zeros_like(root)
    for i in range(size):
        below = (root[..., i, :i, None] * inverse_root[..., :i, :]).sum(axis=-2)
        inverse_root[..., i, :] = (np.eye(size)[i] - below) / root[..., i, i, None]
    return multiply(np.swapaxes(inverse_root, -1, -2), inverse_root)


def convolve(first: Floats, second: Floats) -> Floats:
    """Return the convolution of two sequences, computed by Fourier transforms.

    >>> convolve(np.array([1.0, 2.0]), np.array([1.0, 10.0, 100.0])).round(9).tolist()
    [1.0, 12.0, 120.0, 200.0]
    """
    length = first.size + second.size - 1
    size = 1 << (length - 1).bit_length()
    a = np.fft.rfft(first, size)
    b = np.fft.rfft(second, size)
    product = np.empty_like(a)
    product.real = a.real * b.real - a.imag * b.imag
    product.imag = a.real * b.imag + a.imag * b.real
    return np.asarray(np.fft.irfft(product, size)[:length])
