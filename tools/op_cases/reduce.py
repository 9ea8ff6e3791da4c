# SPDX-License-Identifier: Apache-2.0
from op_cases.framework import *


@family
def reduce(c):
    shapes_axes = [((2, 3), [0]), ((2, 3), [1]), ((2, 3), [0, 1]), ((2, 3), [-1]), ((2, 3, 4), [1]),
                   ((2, 3, 4), [0, 2]), ((2, 3), []), ((0, 3), [0]), ((0, 3), [1]), ((5,), [0]),
                   ((), []), ((3, 40), [1]), ((40, 3), [0]), ((2, 3, 4, 2), [1, 3])]
    for op in ["Sum", "Mean", "Prod", "Max", "Min", "EuclideanNorm"]:
        for shape, axes in shapes_axes:
            c.add(op, [floats(*shape), np.array(axes, np.int32)], note="f32", atol=1e-5)
        c.add(op, [floats(2, 3), np.array([1], np.int64)], {"keep_dims": True}, note="keep")
        c.add(op, [floats(2, 3), np.int32(0)], {"keep_dims": True}, note="scalar_axis")
        for dtype in [np.float64, np.float16, BF16, np.int32, np.int64]:
            c.add(op, [any_numbers(dtype, 3, 5), i32(1)], note=tf.as_dtype(dtype).name)
        c.add(op, [floats(2, 3), i32(2)], note="bad",
              error="Invalid reduction dimension (2 for input with 2 dimension(s)")
        c.add(op, [floats(2, 3), i32(0, 0)], note="twice",
              error="Axes contains duplicate dimension: 0")
        c.add(op, [np.array([[1, NAN, 3], [INF, 1, -INF], [INF, 2, 3]], np.float32), i32(1)],
              note="special")
    for op in ["Max", "Min", "Sum"]:
        c.add(op, [np.array([1.0] * 20 + [NAN] + [2.0] * 13, np.float32), i32(0)], note="nan_in_row")
        c.add(op, [np.array([[1, NAN], [NAN, 2], [3, 4]], np.float32), i32(0)], note="nan_in_col")
    for dtype in [np.int8, np.uint8, np.int16]:
        c.add("Sum", [any_numbers(dtype, 3, 5), i32(0)], note=tf.as_dtype(dtype).name)
        c.add("Max", [any_numbers(dtype, 3, 5), i32(0)], note=tf.as_dtype(dtype).name)
    c.add("Max", [np.zeros((0, 2), np.int32), i32(0)], note="empty_int")
    for op in ["All", "Any"]:
        x = np.array([[True, False, True], [True, True, True]])
        for axes in ([0], [1], [0, 1], []):
            c.add(op, [x, np.array(axes, np.int32)])
        c.add(op, [np.zeros((0, 2), bool), i32(0)], {"keep_dims": True}, note="empty")
    for dtype in FLOATS:
        c.add("L2Loss", [floats(3, 5, dtype=dtype)], note=tf.as_dtype(dtype).name)
    for op in ["ArgMax", "ArgMin"]:
        for dtype in [np.float32, np.float64, np.float16, np.int32, np.uint8, np.int64]:
            c.add(op, [any_numbers(dtype, 3, 5), np.int32(1)], note=tf.as_dtype(dtype).name)
        c.add(op, [floats(2, 3, 4), np.int32(0)], note="first")
        c.add(op, [floats(2, 3, 4), np.int32(-2)], {"output_type": tf.int32}, note="middle")
        c.add(op, [np.array([[NAN, 1, 2], [1, NAN, 0], [NAN, NAN, NAN], [2, 2, 1], [INF, INF, NAN],
                             [-INF, -INF, NAN]], np.float32), np.int32(1)], note="nan")
        c.add(op, [floats(0, 2), np.int32(1)], note="empty")
        c.add(op, [floats(0, 2), np.int32(0)], note="empty_axis", error="is empty in shape [0,2]")
        c.add(op, [floats(2, 2), np.int32(2)], note="bad", error="in the range [-2, 2), but got 2")
    for op in ["Cumsum", "Cumprod"]:
        for axis in (0, 1, -1):
            for exclusive in (False, True):
                for reverse in (False, True):
                    c.add(op, [floats(3, 4), np.int32(axis)],
                          {"exclusive": exclusive, "reverse": reverse}, note="f32")
        c.add(op, [ints(5), np.int32(0)], note="int32")
        c.add(op, [floats(2), np.int32(1)], note="bad", error="")
    c.add("TopKV2", [np.array([[1, 5, 5, 2], [3, 3, 3, 0]], np.float32), np.int32(3)])
    c.add("TopKV2", [ints(10), np.int32(10)], note="all")
    c.add("TopKV2", [floats(2, 3), np.int32(0)], note="none")
    c.add("TopKV2", [floats(2, 3), np.int32(4)], note="bad",
          error="input must have at least k columns. Had 3, needed 4")
    x = floats(2, 5)
    c.add("TopK", [x], {"k": 2}, expect=list(tf.math.top_k(x, 2)))
    p = np.array([[0.1, 0.3, 0.6], [0.5, 0.2, 0.3], [0.4, 0.4, 0.2], [NAN, 0.1, 0.2]], np.float32)
    c.add("InTopKV2", [p, i32(2, 1, 0, 1), np.int32(1)])
    c.add("InTopKV2", [p, i32(1, 2, 7, 1), np.int32(2)], note="two")
    c.add("InTopK", [p, i32(1, 2, 1, 1)], {"k": 1})
