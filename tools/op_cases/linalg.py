# SPDX-License-Identifier: Apache-2.0
from op_cases.framework import *

SOLVED = [np.float32, np.float64] + COMPLEX
NEAR = {np.float32: {"rtol": 2e-4, "atol": 2e-5}, np.float64: {"rtol": 1e-9, "atol": 1e-10},
        np.complex64: {"rtol": 2e-4, "atol": 2e-5}, np.complex128: {"rtol": 1e-9, "atol": 1e-10},
        np.float16: {"rtol": 2e-2, "atol": 2e-2}}


def any_matrix(dtype, *shape):
    return any_numbers(dtype, *shape) if dtype in COMPLEX else floats(*shape, dtype=dtype)


def regular(dtype, n, *batch):
    return any_matrix(dtype, *batch, n, n) + np.array(4 * np.eye(n)).astype(dtype)


def hermitian(dtype, n, *batch):
    a = any_matrix(dtype, *batch, n, n)
    return (a + np.conj(np.swapaxes(a, -1, -2))).astype(dtype)


def positive(dtype, n, *batch):
    a = any_matrix(dtype, *batch, n, n)
    return (np.matmul(a, np.conj(np.swapaxes(a, -1, -2))) + np.eye(n)).astype(dtype)


def values_only(c, op, x, attrs, **more):
    """What stands for the vectors is a scalar that TensorFlow leaves unset."""
    values, *rest = getattr(raw, op)(input=x, **attrs)
    c.add(op, [x], attrs, expect=[values] + [tf.zeros([], r.dtype) for r in rest], **more)


@family
def linalg(c):
    for dtype in SOLVED:
        name, near = np.dtype(dtype).name, NEAR[dtype]
        c.add("Cholesky", [positive(dtype, 3, 2)], note=name, **near)
        for op in ("MatrixDeterminant", "LogMatrixDeterminant"):
            c.add(op, [regular(dtype, 3, 2)], note=name, **near)
            c.add(op, [-regular(dtype, 4)], note=f"sign_{name}", **near)
        for adjoint in (False, True):
            c.add("MatrixInverse", [regular(dtype, 3, 2)], {"adjoint": adjoint}, note=name, **near)
            c.add("MatrixSolve", [regular(dtype, 3, 2), any_matrix(dtype, 2, 3, 2)], {"adjoint": adjoint},
                  note=name, **near)
            for lower in (False, True):
                c.add("MatrixTriangularSolve", [regular(dtype, 3, 2), any_matrix(dtype, 2, 3, 2)],
                      {"adjoint": adjoint, "lower": lower}, note=name, **near)
        c.add("MatrixTriangularSolve", [regular(dtype, 3), any_matrix(dtype, 2, 1, 3, 2)], note=f"broadcast_{name}", **near)
        for fast in (True, False):
            for m, n in ((4, 2), (2, 4)):
                c.add("MatrixSolveLs", [any_matrix(dtype, m, n), any_matrix(dtype, m, 2), np.float64(0.1 if fast else 0)],
                      {"fast": fast}, note=name, rtol=1e-3, atol=1e-4)
        for index in (tf.int32, tf.int64):
            c.add("Lu", [regular(dtype, 4, 2)], {"output_idx_type": index}, note=name, **near)
        for m, n in ((3, 2), (2, 3), (3, 3)):
            for full in (False, True):
                c.add("Qr", [any_matrix(dtype, 2, m, n)], {"full_matrices": full}, note=f"{m}x{n}_{name}", **near)
            values_only(c, "Svd", any_matrix(dtype, 2, m, n), {"compute_uv": False}, note=f"{m}x{n}_{name}", **near)
        values_only(c, "SelfAdjointEigV2", hermitian(dtype, 3, 2), {"compute_v": False}, note=name, **near)
        if dtype == np.float64:  # a complex vector's phase is anybody's, and in float a sign
            c.add("SelfAdjointEigV2", [hermitian(dtype, 4)], note=f"vectors_{name}", **near)
        for pivoting in (True, False):
            d = any_matrix(dtype, 2, 3, 5)
            d[:, 1] += 5
            c.add("TridiagonalSolve", [d, any_matrix(dtype, 2, 5, 2)], {"partial_pivoting": pivoting}, note=name, **near)
        d = any_matrix(dtype, 3, 5)
        d[1, 0] = 0
        c.add("TridiagonalSolve", [d, any_matrix(dtype, 5, 2)], note=f"pivot_{name}", rtol=1e-3, atol=1e-4)
        c.add("TridiagonalMatMul", [any_matrix(dtype, 2, 1, 4) for _ in range(3)] + [any_matrix(dtype, 2, 4, 3)],
              note=name, **near)
        out = tf.complex64 if dtype in (np.float32, np.complex64) else tf.complex128
        values_only(c, "Eig", np.diag(any_matrix(dtype, 3)).astype(dtype), {"compute_v": False, "Tout": out}, note=name, **near)
    c.add("Qr", [floats(3, 2, dtype=np.float16)], note="half", **NEAR[np.float16])
    c.add("MatrixInverse", [regular(np.float16, 3)], note="half", **NEAR[np.float16])
    c.add("Cholesky", [floats(2, 3)], note="shape", error="")
    c.add("Cholesky", [floats(3)], note="rank", error="")
    c.add("Cholesky", [floats(0, 0)], note="empty")
    c.add("MatrixInverse", [np.float32([[1, 2], [2, 4]])], note="singular", error="Input is not invertible.")
    c.add("MatrixSolve", [np.float32([[0, 0], [0, 0]]), floats(2, 1)], note="singular", error="Input matrix is not invertible.")
    c.add("MatrixSolve", [floats(2, 2), floats(3, 1)], note="rows", error="")
    c.add("Lu", [np.zeros((2, 2), np.float32)], note="singular", error="Input is not invertible.")
    c.add("MatrixDeterminant", [np.float32([[1, 2], [2, 4]])], note="singular")
    c.add("MatrixDeterminant", [floats(2, 0, 0)], note="empty")
    c.add("LogMatrixDeterminant", [np.zeros((2, 2), np.float32)], note="zero")
    c.add("MatrixTriangularSolve", [np.float32([[1, 0], [2, 0]]), floats(2, 1)], note="singular")
    c.add("Svd", [floats(0, 2, 3)], note="empty")
