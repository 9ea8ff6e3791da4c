# SPDX-License-Identifier: Apache-2.0
from op_cases.framework import *

POD = FLOATS + INTS + COMPLEX + [np.bool_]


def numbered(dtype, *shape):
    n = int(np.prod(shape))
    return (np.arange(1, n + 1) % 2 if dtype == np.bool_ else np.arange(1, n + 1)).reshape(shape).astype(dtype)


@family
def matrix(c):
    for dtype in POD:
        name = tf.as_dtype(dtype).name
        c.add("MatrixDiag", [numbered(dtype, 2, 3)], note=name)
        c.add("MatrixDiagPart", [numbered(dtype, 2, 3, 2)], note=name)
        c.add("MatrixSetDiag", [numbered(dtype, 2, 3), numbered(dtype, 2)], note=name)
        c.add("MatrixBandPart", [numbered(dtype, 3, 4), np.int64(1), np.int64(0)], note=name)
        c.add("MatrixDiagV3", [numbered(dtype, 2, 3), i32(-1, 0), np.int32(-1), np.int32(-1), dtype(0)], note=name)
    for align in ("LEFT_RIGHT", "RIGHT_LEFT", "LEFT_LEFT", "RIGHT_RIGHT"):
        for low, high, rows, cols in ((-1, 1, -1, -1), (1, 2, -1, -1), (-2, -1, 4, 3), (0, 1, 3, 4), (-1, 0, 4, 3)):
            if low >= 0:
                shape, rows, cols = (2, high - low + 1, 3), 3 if rows == 3 else -1, -1 if rows != 3 else 3 + low
            else:
                shape = (2, high - low + 1, 3)
            try:
                c.add("MatrixDiagV3", [numbered(np.float32, *shape), i32(low, high), np.int32(rows),
                                       np.int32(cols), np.float32(9)], {"align": align}, note=align)
            except SystemExit as bad:
                print(bad)
            m = numbered(np.float32, 2, 3, 4)
            c.add("MatrixDiagPartV3", [m, i32(low, high), np.float32(-9)], {"align": align}, note=align)
            part = raw.MatrixDiagPartV3(input=m, k=[low, high], padding_value=0., align=align)
            c.add("MatrixSetDiagV3", [m, -part.numpy() - 1, i32(low, high)], {"align": align}, note=align)
    m = numbered(np.float32, 2, 3, 4)
    c.add("MatrixDiagPartV2", [m, np.int32(2), np.float32(0)], note="scalar")
    c.add("MatrixDiagV2", [floats(3), np.int32(-1), np.int32(-1), np.int32(-1), np.float32(2)], note="scalar")
    c.add("MatrixSetDiagV2", [m, floats(2, 2), np.int32(2)], note="scalar")
    c.add("MatrixDiag", [floats(0)], note="empty")
    c.add("MatrixDiagPart", [floats(0, 3, 2)], note="empty")
    c.add("MatrixDiagPartV3", [m, i32(1, 0), np.float32(0)], note="order", error="must not be larger than")
    c.add("MatrixDiagPartV3", [m, i32(4), np.float32(0)], note="bound", error="out of bound")
    c.add("MatrixDiagV3", [floats(2, 3), i32(0, 2), np.int32(-1), np.int32(-1), np.float32(0)], note="count",
          error="number of diagonals")
    c.add("MatrixDiagV3", [floats(3), i32(0), np.int32(2), np.int32(-1), np.float32(0)], note="rows",
          error="The number of rows is too small")
    c.add("MatrixDiagV3", [floats(3), i32(0), np.int32(4), np.int32(5), np.float32(0)], note="both",
          error="not consistent")
    c.add("MatrixSetDiag", [floats(3, 3), floats(2)], note="bad", error="")
    for low, high in ((-1, 0), (0, -1), (1, 1), (0, 0), (-1, -1)):
        c.add("MatrixBandPart", [m, np.int32(low), np.int32(high)])
    c.add("MatrixBandPart", [floats(2, 3), np.int64(3), np.int64(0)], note="bad", error="num_lower must be negative or")
    c.add("MatrixBandPart", [floats(2), np.int64(0), np.int64(0)], note="rank", error="")
    for dtype in (np.float32, np.float64, np.float16, np.int32, np.int64, np.complex64, np.complex128):
        c.add("Diag", [numbered(dtype, 2, 2)], note=np.dtype(dtype).name)
        c.add("DiagPart", [numbered(dtype, 2, 3, 2, 3)], note=np.dtype(dtype).name)
    c.add("DiagPart", [floats(2, 3)], note="bad", error="")
    c.add("DiagPart", [floats(2)], note="odd", error="")

    for dtype in FLOATS + [np.int32, np.int64] + COMPLEX:
        name = tf.as_dtype(dtype).name
        c.add("Einsum", [[any_numbers(dtype, 2, 3), any_numbers(dtype, 3, 4)]], {"equation": "ij,jk->ik"}, note=name)
        c.add("Einsum", [[any_numbers(dtype, 2, 3)]], {"equation": "ij->j"}, note=f"sum_{name}")
    near = {"rtol": 1e-4, "atol": 1e-5}
    for equation, *shapes in [
            ("bqhd,bkhd->bhqk", (2, 3, 2, 4), (2, 5, 2, 4)), ("bhqk,bkhd->bqhd", (2, 2, 3, 5), (2, 5, 2, 4)),
            ("abc,cde->abde", (2, 3, 4), (4, 2, 3)), ("...ij,...jk->...ik", (5, 2, 3), (3, 4)),
            ("...ij,...jk->...ik", (2, 1, 2, 3), (5, 3, 2)), ("i,j->ij", (3,), (2,)), ("i,i->", (4,), (4,)),
            ("ii->i", (3, 3)), ("ii->", (3, 3)), ("i->ii", (3,)), ("ij->ji", (2, 3)), ("iij->ij", (2, 2, 3)),
            ("aab,bc->ac", (2, 2, 3), (3, 2)), ("ab,cd->", (2, 3), (2, 2)), ("a...->...a", (2, 3, 4)),
            ("ab,ab->ab", (2, 3), (2, 3)), ("...,...->...", (2, 3), (3,)),
            ("aBc,Bd->acd", (2, 3, 2), (3, 2)), ("ij,jk->ik", (0, 3), (3, 2)), ("ij,jk->ik", (2, 0), (0, 2))]:
        c.add("Einsum", [[floats(*s) for s in shapes]], {"equation": equation}, note="f", **near)
    c.add("Einsum", [[floats(2, 2), floats(2, 2)]], {"equation": "ab,bc"}, note="arrow",
          error="Expecting exactly one '->' in einsum equation")
    c.add("Einsum", [[floats(2, 2), floats(3, 2)]], {"equation": "ab,bc->ac"}, note="sizes",
          error="Expected dimension 2 at axis 0 of the input shaped [3,2] but got dimension 3")
    c.add("Einsum", [[floats(2, 2), floats(3, 2)]], {"equation": "abc,bc->ac"}, note="rank", error="to have rank 3 but got")
    c.add("Einsum", [[floats(2), floats(3), floats(3)]], {"equation": "a,b,c->abc"}, note="three",
          error="Expecting 1 or 2 input subscripts")
    c.add("Einsum", [[floats(2, 3)]], {"equation": "...a->a"}, note="dots", error="Output contains 1 broadcasting")
    for x, y, out in ((np.int8, np.int8, tf.int32), (np.uint8, np.int8, tf.int32), (BF16, np.int8, tf.bfloat16),
                      (np.float32, np.float32, tf.float32), (np.int32, np.int32, tf.int32),
                      (np.complex64, np.complex64, tf.complex64)):
        c.add("BatchMatMulV3", [any_numbers(x, 2, 2, 3), any_numbers(y, 3, 2)], {"Tout": out},
              note=f"{tf.as_dtype(x).name}_{tf.as_dtype(y).name}")
