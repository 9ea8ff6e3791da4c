# SPDX-License-Identifier: Apache-2.0
from op_cases.framework import *


def i64(*rows):
    return np.array(rows, np.int64)


@family
def sparse(c):
    indices, shape = i64([0, 1], [0, 3], [2, 0], [2, 3]), i64(3, 4)
    other = i64([0, 3], [1, 1], [2, 3])
    everything = FLOATS + INTS + COMPLEX
    for dtype in everything:
        name = tf.as_dtype(dtype).name
        values, more = any_numbers(dtype, 4), any_numbers(dtype, 3)
        for op in ("SparseReduceSum", "SparseReduceMax"):
            if dtype in COMPLEX and "Max" in op:
                continue
            c.add(op, [indices, values, shape, i32(1)], note=name)
            c.add(op + "Sparse", [indices, values, shape, i32(1)], note=name)
        c.add("SparseTensorDenseAdd", [indices, values, shape, any_numbers(dtype, 3, 4)], note=name)
        c.add("SparseTensorDenseMatMul", [indices, values, shape, any_numbers(dtype, 4, 2)], note=name)
        c.add("SparseToDense", [indices, shape, values, dtype(0)], note=name)
        if dtype not in COMPLEX:
            for op in ("SparseSparseMaximum", "SparseSparseMinimum"):
                c.add(op, [indices, values, shape, other, more, shape], note=name)
            for op in ("SparseDenseCwiseAdd", "SparseDenseCwiseMul"):
                c.add(op, [indices, values, shape, any_numbers(dtype, 4)], note=name)
        if dtype in (np.float32, np.float64, np.int32, np.int64, np.int8, np.int16) + tuple(COMPLEX):
            real = {np.complex64: np.float32, np.complex128: np.float64}.get(dtype, dtype)
            c.add("SparseAdd", [indices, values, shape, other, more, shape, real(0)], note=name)
    values = floats(4)
    c.add("SparseAdd", [indices, values, shape, other, -values[[1, 0, 3]], shape, np.float32(0.5)], note="threshold")
    c.add("SparseAdd", [indices, values, shape, other, floats(3), i64(3, 5), np.float32(0)], note="shape", error="")
    c.add("SparseDenseCwiseDiv", [indices, values, shape, floats(3, 1)])
    c.add("SparseDenseCwiseMul", [indices, values, shape, floats(3)], note="bad", error="broadcasts dense to sparse only")
    for axes in ([0], [-1], [0, 1], []):
        for keep in (False, True):
            c.add("SparseReduceSum", [indices, values, shape, np.array(axes, np.int32)], {"keep_dims": keep}, note="axes")
            c.add("SparseReduceMaxSparse", [indices, values, shape, np.array(axes, np.int32)], {"keep_dims": keep},
                  note="axes")
    c.add("SparseReduceSum", [indices, values, shape, i32(2)], note="axis", error="Invalid reduction dimension")
    for dtype in (np.float32, np.float64, np.float16):
        c.add("SparseSoftmax", [indices, floats(4, dtype=dtype), shape], note=np.dtype(dtype).name)
    c.add("SparseSoftmax", [i64([0], [1]), floats(2), i64(3)], note="rank", error="")
    words = np.array(["d", "c", "b", "a"])
    mixed = i64([2, 3], [0, 1], [2, 0], [0, 3])
    c.add("SparseReorder", [mixed, values, shape])
    c.add("SparseReorder", [mixed, words, shape], note="string")
    c.add("SparseReorder", [np.zeros((0, 2), np.int64), floats(0), shape], note="empty")
    c.add("SparseReshape", [indices, shape, i64(2, -1)])
    c.add("SparseReshape", [indices, shape, i64(12)], note="flat")
    c.add("SparseReshape", [indices, shape, i64(5, -1)], note="bad", error="")
    c.add("SparseReshape", [indices, shape, i64(-1, -1)], note="open", error="only one output dimension may be -1")
    c.add("SparseSlice", [indices, values, shape, i64(0, 1), i64(3, 2)])
    c.add("SparseSlice", [indices, words, shape, i64(1, 0), i64(9, 9)], note="string")
    c.add("SparseSlice", [indices, values, shape, i64(5, 0), i64(1, 1)], note="beyond")
    for dim in (0, 1, -1):
        c.add("SparseConcat", [[indices, other], [values, floats(3)], [shape, shape]], {"concat_dim": dim})
    c.add("SparseConcat", [[indices, other], [values, floats(3)], [shape, i64(3, 5)]], {"concat_dim": 0}, note="bad", error="")
    c.add("SparseFillEmptyRows", [indices, values, shape, np.float32(9)])
    c.add("SparseFillEmptyRows", [mixed, words, i64(5, 4), np.array("?")], note="string")
    c.add("SparseFillEmptyRows", [np.zeros((0, 2), np.int64), floats(0), i64(2, 3), np.float32(1)], note="empty")
    c.add("SparseFillEmptyRows", [np.zeros((0, 2), np.int64), floats(0), i64(0, 3), np.float32(1)], note="none")
    c.add("SparseFillEmptyRows", [indices, values, i64(2, 4), np.float32(9)], note="row", error="is invalid: 2 >= 2")
    c.add("SparseToDense", [np.int32(2), i32(4), np.float32(1), np.float32(0)], note="scalar")
    c.add("SparseToDense", [i32(1, 3), i32(5), np.float32(1), np.float32(-1)], note="vector")
    c.add("SparseToDense", [i32(3, 1), i32(5), np.array(["a", "b"]), np.array("")], {"validate_indices": False}, note="string")
    c.add("SparseToDense", [i32(3, 1), i32(5), floats(2), np.float32(0)], note="order", error="is out of order")
    c.add("SparseToDense", [i32(1, 1), i32(5), floats(2), np.float32(0)], note="twice", error="is repeated")
    c.add("SparseToDense", [i32(1, 5), i32(5), floats(2), np.float32(0)], note="range", error="is out of bounds")
    for a in (False, True):
        for b in (False, True):
            dense = complexes(3 if a else 4, 2)
            c.add("SparseTensorDenseMatMul", [indices, complexes(4), shape, dense.T.copy() if b else dense],
                  {"adjoint_a": a, "adjoint_b": b}, note="adjoint")
    c.add("SparseTensorDenseMatMul", [indices, values, shape, floats(3, 2)], note="inner",
          error="inner dimension does not match")
    c.add("SparseTensorDenseMatMul", [i64([0, 9]), floats(1), shape, floats(4, 2)], note="index", error="out of bounds")
    c.add("SparseTensorDenseAdd", [indices, values, shape, floats(3, 5)], note="shape", error="")
    for a, b in ((np.float32, np.float32), (BF16, np.float32), (BF16, BF16)):
        c.add("SparseMatMul", [floats(2, 3, dtype=a), floats(3, 4, dtype=b)], note=tf.as_dtype(a).name, rtol=1e-4)
    c.add("SparseMatMul", [floats(3, 2), floats(4, 3)], {"transpose_a": True, "transpose_b": True}, note="transposed")
    counted = np.int64([3, 1, 1, 0])
    for dtype in (np.int32, np.int64, np.float32, np.float64):
        name = np.dtype(dtype).name
        c.add("SparseCountSparseOutput", [indices, counted, shape, any_numbers(dtype, 4)], {"binary_output": False}, note=name)
        c.add("DenseCountSparseOutput", [i32(1, 1, 4, 0, 2, 0).reshape(2, 3), np.zeros(0, dtype)],
              {"binary_output": True}, note=name)
    c.add("DenseCountSparseOutput", [i32(1, 1, 4), floats(0)], {"minlength": 8, "binary_output": False}, note="min")
    c.add("DenseCountSparseOutput", [i32(1, 1, 4), floats(0)], {"maxlength": 3, "binary_output": False}, note="max")
    c.add("DenseCountSparseOutput", [i32(1, -1), floats(0)], {"binary_output": False}, note="negative", error="non-negative")
