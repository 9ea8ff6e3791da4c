# SPDX-License-Identifier: Apache-2.0
from op_cases.framework import *


@family
def slices(c):
    for begin, size in [((0, 0), (2, 3)), ((1, 1), (1, 2)), ((0, 1), (-1, -1)), ((1, 3), (1, 0))]:
        c.add("Slice", [floats(2, 3), np.array(begin, np.int32), np.array(size, np.int32)])
    c.add("Slice", [np.array(["a", "b", "c"]), i32(1), i32(2)], note="string")
    c.add("Slice", [floats(3), i32(4), i32(0)], note="begin", error="Expected begin[0] in [0, 3], but got 4")
    c.add("Slice", [floats(3), i32(1), i32(3)], note="size", error="Expected size[0] in [0, 2], but got 3")
    c.add("Slice", [floats(3), i32(1), i32(-2)], note="negative", error="")
    c.add("Slice", [floats(3), i32(1, 1), i32(1, 1)], note="rank", error="")
    x = floats(4, 5, 3)
    specs = [([1], [3], [1], {}), ([0, 0], [4, 5], [2, 2], {}), ([3, 4], [0, 0], [-1, -2], {}),
             ([-1], [0], [1], {"shrink_axis_mask": 1}), ([0, 1], [0, 2], [1, 1], {"ellipsis_mask": 1}),
             ([0, 1], [0, 2], [1, 1], {"ellipsis_mask": 1, "shrink_axis_mask": 2}),
             ([0, 0, 1], [0, 0, 3], [1, 1, 1], {"new_axis_mask": 1, "begin_mask": 2, "end_mask": 2}),
             ([2, 1], [0, 0], [-1, 2], {"begin_mask": 1, "end_mask": 3}),
             ([0, 0, 0], [0, 0, 0], [1, 1, 1], {"begin_mask": 7, "end_mask": 7, "new_axis_mask": 4}),
             ([10], [20], [1], {}), ([-100], [100], [3], {}), ([1, 2, 0], [2, 3, 1], [1, 1, 1],
                                                               {"shrink_axis_mask": 7}),
             ([0, 0, 0, 2], [0, 0, 0, 3], [1, 1, 1, 1], {"ellipsis_mask": 2, "new_axis_mask": 4,
                                                          "shrink_axis_mask": 8, "end_mask": 1}),
             ([], [], [], {}), ([3], [0], [1], {}), ([0], [4], [100], {})]
    for begin, end, stride, masks in specs:
        args = [np.array(v, np.int32) for v in (begin, end, stride)]
        c.add("StridedSlice", [x] + args, masks)
        dy = raw.StridedSlice(input=x, begin=args[0], end=args[1], strides=args[2], **masks).numpy()
        c.add("StridedSliceGrad", [i32(4, 5, 3)] + args + [dy], masks)
    c.add("StridedSlice", [i32(7, 8, 9), i32(1), i32(2), i32(1)], {"shrink_axis_mask": 1}, note="shape")
    c.add("StridedSlice", [np.array(["a", "b", "c"]), i32(-1), i32(-4), i32(-1)], note="string")
    c.add("StridedSlice", [x, i32(4), i32(5), i32(1)], {"shrink_axis_mask": 1}, note="range",
          error="slice index 4 of dimension 0 out of bounds.")
    c.add("StridedSlice", [x, i32(0), i32(1), i32(0)], note="zero", error="strides[0] must be non-zero")
    c.add("StridedSlice", [x, i32(0, 0), i32(1), i32(1)], note="sizes", error="")
    c.add("StridedSlice", [x, i32(0, 0, 0, 0), i32(1, 1, 1, 1), i32(1, 1, 1, 1)], note="dims",
          error="Index out of range using input dim 3; input has only 3 dims")
    c.add("StridedSlice", [x, i32(0, 0), i32(1, 1), i32(1, 1)], {"ellipsis_mask": 3}, note="ellipses",
          error="Multiple ellipses in slice spec not allowed")
    c.add("StridedSliceGrad", [i32(4), i32(0), i32(2), i32(1), floats(3)], note="bad", error="")
    for x, paddings in [((3,), [[1, 2]]), ((2, 3), [[0, 0], [1, 1]]), ((2, 3), [[2, 1], [0, 3]]),
                        ((0, 2), [[1, 1], [0, 0]]), ((2, 2, 2), [[1, 0], [0, 1], [1, 1]])]:
        c.add("Pad", [floats(*x), np.array(paddings, np.int32)])
        c.add("PadV2", [floats(*x), np.array(paddings, np.int32), np.float32(9)])
    c.add("Pad", [ints(2, 2, dtype=np.int64), np.array([[1, 0], [0, 1]], np.int64)], note="int64")
    c.add("PadV2", [np.array([True, False]), np.array([[1, 1]], np.int32), np.array(True)], note="bool")
    c.add("Pad", [floats(2), np.array([[-1, 2]], np.int32)], note="negative", error="")
    c.add("Pad", [floats(2), np.array([[1, 2], [1, 2]], np.int32)], note="rows", error="")
    for mode in ("REFLECT", "SYMMETRIC"):
        c.add("MirrorPad", [floats(4), np.array([[2, 1]], np.int32)], {"mode": mode})
        c.add("MirrorPad", [floats(3, 4), np.array([[2, 1], [1, 2]], np.int32)], {"mode": mode})
        c.add("MirrorPad", [floats(2), np.array([[3, 0]], np.int32)], {"mode": mode}, note="bad", error="")
        c.add("MirrorPadGrad", [floats(7), np.array([[2, 1]], np.int32)], {"mode": mode})
        c.add("MirrorPadGrad", [floats(6, 7), np.array([[2, 1], [1, 2]], np.int32)], {"mode": mode})
        c.add("MirrorPadGrad", [ints(7, dtype=np.int64), np.array([[2, 1]], np.int64)], {"mode": mode}, note="int64")
        c.add("MirrorPadGrad", [floats(5), np.array([[3, 0]], np.int32)], {"mode": mode}, note="bad", error="")
    for x, m in [((3,), [2]), ((2, 3), [2, 1]), ((2, 3), [1, 3]), ((2, 3), [3, 2]), ((2,), [0]), ((), [])]:
        c.add("Tile", [floats(*x), np.array(m, np.int32)])
    c.add("Tile", [np.array(["a", "b"]), i32(2)], note="string")
    c.add("Tile", [floats(2, 3), i32(2)], note="bad", error="")
    c.add("Tile", [floats(2), i32(-1)], note="negative", error="Expected multiples[0] >= 0, but got -1")
    for x, axes in [((4,), [0]), ((2, 3), [1]), ((2, 3), [0, 1]), ((2, 3), []), ((2, 3, 2), [-2])]:
        c.add("ReverseV2", [floats(*x), np.array(axes, np.int32)])
    c.add("ReverseV2", [floats(2), i32(1)], note="bad", error="")
    c.add("ReverseV2", [floats(2), i32(0, -1)], note="twice", error="axis 0 specified more than once.")
