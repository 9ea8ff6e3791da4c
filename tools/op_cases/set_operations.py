# SPDX-License-Identifier: Apache-2.0
from op_cases.framework import *

TYPES = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16]


def indices(*rows):
    return np.array(rows, np.int64)


def strings(rows):
    return np.array([[f"s{v}" for v in row] for row in rows], object)


@family
def set_operations(c):
    a, b = np.array([[1, 2, 2], [3, 4, 5]]), np.array([[2, 9], [5, 4]])
    none = np.zeros([0, 2], np.int64)
    shape = np.array([2, 4], np.int64)
    at, values = indices([0, 0], [0, 3], [1, 1]), np.array([2, 7, 4])
    for op in ("a-b", "b-a", "intersection", "union"):
        kind = {"set_operation": op}
        for dtype in TYPES:
            c.add("DenseToDenseSetOperation", [a.astype(dtype), b.astype(dtype)], kind)
        c.add("DenseToDenseSetOperation", [strings(a), strings(b)], kind)
        c.add("DenseToSparseSetOperation", [strings(a), at, strings([values])[0], shape], kind)
        c.add("DenseToSparseSetOperation", [a, at, values, shape], kind)
        c.add("DenseToSparseSetOperation", [a, none, values[:0], shape], kind)
        c.add("DenseToDenseSetOperation", [ints(2, 3, 4, low=0, high=4), ints(2, 3, 5, low=0, high=4)], kind)
        c.add("SparseToSparseSetOperation", [indices([0, 0], [2, 1]), i32(5, 6), np.array([3, 2], np.int64),
                                             indices([1, 0], [2, 0], [2, 3]), i32(7, 8, 6), np.array([3, 4], np.int64)], kind)
        c.add("SparseToSparseSetOperation", [none, i32(), np.array([3, 2], np.int64), none, i32(), np.array([3, 2], np.int64)], kind)
    union = {"set_operation": "union"}
    c.add("DenseToDenseSetOperation", [a, b], {"set_operation": "A-B"})
    c.add("DenseToDenseSetOperation", [np.zeros([2, 0], I32), np.zeros([2, 0], I32)], union, note="empty")
    c.add("DenseToDenseSetOperation", [np.zeros([0, 2], I32), np.zeros([0, 3], I32)], union, note="empty")
    c.add("DenseToDenseSetOperation", [a, b], {"set_operation": "xor"}, error="Invalid set_operation xor")
    c.add("DenseToDenseSetOperation", [a[0], b], union, error="Shape [3] has rank 1 < 2")
    c.add("DenseToDenseSetOperation", [a[:1], b], union, error="Mismatched shapes [1] vs [2]")
    c.add("DenseToSparseSetOperation", [a, indices([1, 0], [0, 1]), values[:2], shape], union, error="indices[1] = [0,1] is out of order")
    c.add("DenseToSparseSetOperation", [a, indices([1, 0], [1, 0]), values[:2], shape], union, error="indices[1] = [1,0] is repeated")
    c.add("DenseToSparseSetOperation", [a, indices([1, 5], [1, 0]), values[:2], shape], union,
          error="indices[0] = [1,5] is out of bounds: need 0 <= index < [2,4]")
    c.add("DenseToSparseSetOperation", [a, at, values, np.array([3, 4], np.int64)], union, error="Mismatched shapes [2] vs [3]")
    for kind in TYPES + [None]:
        v = np.array([5, 5, 6, 5])
        c.add("SetSize", [indices([0, 0], [0, 2], [2, 0], [2, 1]), v.astype(kind) if kind else strings([v])[0], np.array([3, 4], np.int64)])
    c.add("SetSize", [np.zeros([0, 3], np.int64), i32(), np.array([3, 2, 2], np.int64)])
    c.add("SetSize", [indices([0], [1]), i32(1, 2), np.array([3], np.int64)], error="Invalid rank 1")
    c.add("SetSize", [indices([2, 0], [0, 2]), i32(5, 5), np.array([3, 4], np.int64)], error="indices[1] = [0,2] is out of order")
    c.add("SetSize", [indices([2, 0], [0, 2]), i32(5, 5), np.array([3, 4], np.int64)], {"validate_indices": False})
