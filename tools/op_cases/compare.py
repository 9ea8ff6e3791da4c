# SPDX-License-Identifier: Apache-2.0
from op_cases.framework import *


@family
def compare(c):
    for op in ["Less", "LessEqual", "Greater", "GreaterEqual", "Equal", "NotEqual"]:
        x = np.array([1, 2, 3, NAN, INF, -0.0], np.float32)
        c.add(op, [x, np.array([1, 3, 2, NAN, INF, 0.0], np.float32)], note="f32")
        c.add(op, [floats(2, 1), floats(3)], note="bcast")
        for dtype in [np.float64, np.float16, BF16, np.int32, np.int64, np.uint8, np.int8]:
            c.add(op, [any_numbers(dtype, 6), any_numbers(dtype, 6)], note=tf.as_dtype(dtype).name)
        c.add(op, [ints(6, low=0, high=3), ints(6, low=0, high=3)], note="ties")
        c.add(op, [floats(0), floats(1)], note="empty")
        c.add(op, [floats(2, 3), floats(4)], note="bad", error="ncompatible shapes: [2,3] vs. [4]")
    for op in ["Equal", "NotEqual"]:
        c.add(op, [np.array(["a", "b"]), np.array(["a", "c"])], note="string")
        c.add(op, [np.array(["a", "b"]), np.array("b")], note="string_scalar")
        c.add(op, [np.array([True, False]), np.array([True, True])], note="bool")
        c.add(op, [floats(2), floats(3)], {"incompatible_shape_error": False}, note="lenient")
        c.add(op, [floats(2), floats(2)], {"incompatible_shape_error": False}, note="lenient_fits")
    c.add("ApproximateEqual", [np.array([1, 2, 3], np.float32), np.array([1.005, 2.5, 3], np.float32)],
          {"tolerance": 0.01})
    cond = np.array([True, False, True])
    for dtype in [np.float32, np.float64, np.int64, np.uint8, np.float16]:
        c.add("SelectV2", [cond, any_numbers(dtype, 2, 3), any_numbers(dtype, 3)],
              note=tf.as_dtype(dtype).name)
        c.add("Select", [cond, any_numbers(dtype, 3, 2), any_numbers(dtype, 3, 2)],
              note=tf.as_dtype(dtype).name)
    c.add("SelectV2", [np.array(True), floats(2, 3), np.float32(0)], note="scalar")
    c.add("SelectV2", [np.array(False), floats(2, 3), np.float32(0)], note="scalar_false")
    c.add("SelectV2", [cond, np.array(["a", "b", "c"]), np.array("z")], note="string")
    c.add("SelectV2", [cond.reshape(3, 1), floats(1, 4), floats(3, 1)], note="bcast")
    c.add("SelectV2", [np.array([True, False]), floats(3), floats(3)], note="bad", error="")
    c.add("Select", [np.array(True), np.array("yes"), np.array("no")], note="string")
    c.add("Select", [np.array(True), floats(2, 3), floats(2, 3)], note="scalar")
    c.add("Select", [np.array([[True, False]]), floats(1, 2), floats(1, 2)], note="same")
    c.add("Select", [np.array([True, False]), floats(3, 2), floats(3, 2)], note="bad", error="")
    c.add("Select", [np.array(True), floats(3, 2), floats(2)], note="bad_else", error="")
    c.add("ClipByValue", [floats(5), np.float32(-1), np.float32(1)])
    c.add("ClipByValue", [ints(5), np.int32(-2), np.int32(3)], note="int32")
    c.add("ClipByValue", [np.float32([-3, 0, 3, NAN]), np.float32(1), np.float32(-1)], note="crossed")
    c.add("ClipByValue", [floats(3), floats(3, low=-2, high=-1), floats(3, low=0, high=1)], note="each")
