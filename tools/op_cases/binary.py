# SPDX-License-Identifier: Apache-2.0
from op_cases.framework import *


@family
def binary(c):
    shapes = [((2, 3), (2, 3)), ((2, 3), (3,)), ((2, 1, 3), (1, 4, 1)), ((), (2, 2)), ((2, 2), ()),
              ((0, 3), (3,)), ((1,), (1,)), ((5,), (5,)), ((3, 1), (1, 70)), ((17,), (17,))]
    arithmetic = ["AddV2", "Sub", "Mul", "Maximum", "Minimum", "SquaredDifference"]
    for op in arithmetic + ["RealDiv", "FloorMod", "Pow", "DivNoNan", "Xdivy"]:
        for a, b in shapes:
            x, y = floats(*a), floats(*b)
            if op == "Pow":
                x = np.abs(x)
            c.add(op, [x, y], note="f32")
        for x, y in [(SPECIAL, SPECIAL[::-1].copy()), (SPECIAL, np.float32(1.5)),
                     (np.float32(-2.0), SPECIAL), (SPECIAL, np.float32(0.0)),
                     (SPECIAL, np.float32(NAN))]:
            c.add(op, [x, y], note="special")
        c.add(op, [floats(2, 3), floats(4)], error="ncompatible shapes: [2,3] vs. [4]", note="bad")
    for op in arithmetic:
        for dtype in [np.float64, np.float16, BF16, np.int32, np.int64, np.int8, np.uint8, np.int16,
                      np.uint16, np.uint32, np.uint64]:
            if op == "SquaredDifference" and dtype not in FLOATS + [np.int32, np.int64]:
                continue
            c.add(op, [any_numbers(dtype, 2, 3), any_numbers(dtype, 3)], note=tf.as_dtype(dtype).name)
    c.add("AddV2", [i32(2**31 - 1, -2**31), i32(1, -1)], note="wraps")
    c.add("Mul", [np.array([200, 100], np.uint8), np.array([2, 3], np.uint8)], note="wraps")
    c.add("Mul", [np.array([60000, 65535], np.uint16), np.array([60000, 65535], np.uint16)],
          note="wraps")
    for op in ["FloorDiv", "FloorMod", "TruncateDiv", "TruncateMod", "Mod", "Div"]:
        for dtype in [np.int32, np.int64, np.int8, np.uint8, np.int16]:
            if op in ("Mod", "TruncateMod") and dtype not in (np.int32, np.int64):
                continue
            if op == "FloorMod" and dtype not in (np.int32, np.int64, np.int8, np.int16, np.uint8):
                continue
            x = np.array([7, -7, 7, -7, 0, 9, 100], np.int64).astype(dtype)
            y = np.array([3, 3, -3, -3, 5, 9, 7], np.int64).astype(dtype)
            y[y == 0] = 1
            c.add(op, [x, y], note=tf.as_dtype(dtype).name)
        # TensorFlow reports an internal error for the Truncate ops; the others say what is wrong.
        expect = [] if op.startswith("Truncate") else None
        c.add(op, [i32(1, 2), i32(1, 0)], error="nteger division by zero", note="zero", expect=expect)
        c.add(op, [i32(5, 6), np.int32(0)], error="nteger division by zero", note="zero_scalar",
              expect=expect)
    for op in ["FloorDiv", "TruncateDiv"]:
        c.add(op, [i32(-2**31 + 1, 5), i32(-1, -1)], note="min")
    c.add("FloorDiv", [floats(2, 3), np.array([0.5, -0.7, 1.1], np.float32)], note="f32")
    c.add("FloorDiv", [SPECIAL, np.float32(-0.5)], note="special")
    c.add("FloorMod", [floats(2, 3, dtype=np.float64), np.array([0.5, -0.7, 1.1])], note="f64")
    c.add("Mod", [floats(2, 3), np.array([0.5, -0.7, 1.1], np.float32)], note="f32")
    c.add("Pow", [ints(2, 3, dtype=np.int64), i32(0, 1, 3).astype(np.int64)], note="i64")
    c.add("Pow", [i32(3, -2, 7), i32(30, 31, 15)], note="wraps")
    c.add("Pow", [i32(1, 2), i32(1, -1)], note="negative",
          error="Integers to negative integer powers are not allowed")
    c.add("Pow", [floats(4, dtype=np.float64), np.array([2.0, -1.0, 0.0, 3.0])], note="f64")
    for op in ["Xlogy", "Xlog1py", "Atan2", "MulNoNan", "DivNoNan", "Xdivy"]:
        c.add(op, [floats(2, 3), np.abs(floats(3))], note="f32")
        c.add(op, [floats(2, 3, dtype=np.float64), np.abs(floats(3, dtype=np.float64))], note="f64")
        c.add(op, [np.array([0, 0, 1, 0, 2], np.float32),
                   np.array([0, NAN, 0, INF, 1], np.float32)], note="zeros")
    for op in ["BitwiseAnd", "BitwiseOr", "BitwiseXor", "LeftShift", "RightShift"]:
        for dtype in [np.int32, np.int64, np.uint8, np.int8]:
            c.add(op, [ints(2, 3, dtype=dtype, high=100), ints(3, dtype=dtype, low=0, high=7)],
                  note=tf.as_dtype(dtype).name)
    c.add("LogicalAnd", [np.array([[True], [False]]), np.array([True, False])])
    c.add("LogicalOr", [np.array([[True], [False]]), np.array([True, False])])
    c.add("LogicalAnd", [np.array(True), np.array([True, False])], note="scalar")
    for n in [1, 2, 3, 5]:
        c.add("AddN", [[floats(2, 3) for _ in range(n)]], note=str(n))
    c.add("AddN", [[ints(4), ints(4), ints(4)]], note="int32")
    c.add("AddN", [[floats(2, 3), floats(3)]], error="must have the same size and shape", note="bad")
    c.add("Add", [floats(3), floats(2, 3)])
    for dtype in (np.float32, np.float64):
        c.add("NextAfter", [np.array([1, 1, 0, -2], dtype), np.array([2, 0, 1, -2], dtype)], rtol=0.0,
              atol=0.0, note=tf.as_dtype(dtype).name)
