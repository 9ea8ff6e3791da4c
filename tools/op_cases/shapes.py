# SPDX-License-Identifier: Apache-2.0
from op_cases.framework import *


@family
def shapes(c):
    for shape in [(), (3,), (2, 0, 4), (2, 3, 4, 5, 1, 1, 1)]:
        c.add("Shape", [np.zeros(shape, np.float32)])
        c.add("Size", [np.zeros(shape, np.float32)])
        c.add("Rank", [np.zeros(shape, np.float32)])
    c.add("Shape", [floats(2, 3)], {"out_type": tf.int64}, note="int64")
    c.add("Size", [floats(2, 3)], {"out_type": tf.int64}, note="int64")
    c.add("ShapeN", [[floats(2, 3), floats(4)]])
    c.add("Shape", [np.array(["a", "b"])], note="string")
    for shape in [(6,), (3, 2), (-1,), (2, -1), (1, 6, 1)]:
        c.add("Reshape", [floats(2, 3), np.array(shape, np.int32)])
    c.add("Reshape", [floats(1), np.zeros(0, np.int32)], note="to_scalar")
    c.add("Reshape", [floats(0, 3), i32(3, 0)], note="empty")
    c.add("Reshape", [floats(0, 3), i32(3, -1)], note="empty_infer")
    c.add("Reshape", [np.array(["a", "b"]), i32(2, 1)], note="string")
    c.add("Reshape", [floats(2, 3), i32(2, 2)], note="bad",
          error="Input to reshape is a tensor with 6 values, but the requested shape has 4")
    c.add("Reshape", [floats(2, 3), i32(-1, -1)], note="two",
          error="Only one input size may be -1, not both 0 and 1")
    c.add("Reshape", [floats(2, 3), i32(4, -1)], note="multiple",
          error="but the requested shape requires a multiple of 4")
    c.add("Reshape", [floats(2, 3), i32(-2, 3)], note="negative", error="Size 0 must be non-negative, not -2")
    c.add("Reshape", [floats(0, 3), i32(0, -1)], note="infer_beside_zero")
    c.add("Reshape", [floats(4, 0, 6), i32(0, -1, 8)], note="infer_beside_zero")
    for axis in (0, 1, 2, -1, -3):
        c.add("ExpandDims", [floats(2, 3), np.int32(axis)])
    c.add("ExpandDims", [floats(2, 3), np.int32(3)], note="bad", error="")
    c.add("Squeeze", [floats(1, 2, 1)])
    x = floats(1, 2, 1)  # the Python function has another name for the attribute
    c.add("Squeeze", [x], {"squeeze_dims": [0]}, note="first", expect=[tf.squeeze(x, [0])])
    c.add("Squeeze", [x], {"squeeze_dims": [-1]}, note="last", expect=[tf.squeeze(x, [-1])])
    c.add("Squeeze", [x], {"squeeze_dims": [1]}, note="bad", expect=[],
          error="Can not squeeze dim[1], expected a dimension of 1, got 2")
    for perm in [(1, 0), (0, 1)]:
        c.add("Transpose", [floats(3, 5), np.array(perm, np.int32)])
    for perm in [(2, 0, 1), (0, 2, 1), (2, 1, 0), (1, 0, 2)]:
        c.add("Transpose", [floats(3, 4, 5), np.array(perm, np.int32)])
    for dtype in [np.int8, np.float16, np.float64, np.int64]:
        c.add("Transpose", [any_numbers(dtype, 20, 18), i32(1, 0)], note=tf.as_dtype(dtype).name)
    c.add("Transpose", [np.array([["a", "b"], ["c", "d"], ["e", "f"]]), i32(1, 0)], note="string")
    c.add("Transpose", [floats(0, 3), i32(1, 0)], note="empty")
    c.add("Transpose", [floats(2, 3), i32(0, 0)], note="twice", error="")
    c.add("Transpose", [floats(2, 3), i32(0, 2)], note="range", error="2 is out of range [0 .. 2)")
    c.add("Transpose", [floats(2, 3), i32(0)], note="size", error="transpose expects a vector of size 2")
    c.add("InvertPermutation", [i32(2, 0, 1)])
    c.add("InvertPermutation", [i32(2, 0, 0)], note="twice", error="0 is duplicated in the input.")
    c.add("InvertPermutation", [i32(3, 0, 1)], note="range", error="3 is not between 0 and 3")
    for value in [np.float32(2.5), np.int64(7), np.array(True), np.array("x"), np.float16(1.5)]:
        c.add("Fill", [i32(2, 3), value], note=tf.convert_to_tensor(value).dtype.name)
    c.add("Fill", [np.zeros(0, np.int32), np.float32(1)], note="scalar")
    c.add("Fill", [i32(2, -1), np.float32(1)], note="negative", error="")
    c.add("Fill", [i32(2), floats(2)], note="bad", error="value must represent a scalar")
    for x in [floats(2, 3), ints(3), np.array([True]), floats(2, dtype=np.float16), np.ones(3, BF16),
              np.ones(2, np.complex64), np.ones((1, 2), np.complex128)]:
        c.add("ZerosLike", [x])
        c.add("OnesLike", [x])
    c.add("ZerosLike", [np.array(["a"])], note="string")
    for a in [(0, 5, 1), (5, 0, -2), (3, 3, 1), (0, 10, 3), (-4, 4, 3)]:
        c.add("Range", [np.int32(v) for v in a], note="int32")
        c.add("Range", [np.int64(v) for v in a], note="int64")
    for a in [(0, 1, 0.1), (1, 0, -0.25), (0.5, 0.5, 1), (0, 3.3, 1.1)]:
        c.add("Range", [np.float32(v) for v in a], note="f32")
        c.add("Range", [np.float64(v) for v in a], note="f64")
    c.add("Range", [np.int32(0), np.int32(5), np.int32(0)], note="zero", error="Requires delta != 0")
    c.add("Range", [np.int32(5), np.int32(0), np.int32(1)], note="bad",
          error="Requires start <= limit when delta > 0: 5/0")
    c.add("Range", [np.int32(0), np.int32(5), np.int32(-1)], note="bad_down",
          error="Requires start >= limit when delta < 0: 0/5")
    for n in (1, 2, 5):
        c.add("LinSpace", [np.float32(-1), np.float32(2), np.int32(n)])
    c.add("LinSpace", [np.float32(-1), np.float32(2), np.int32(0)], note="bad", error="Requires num > 0: 0")
    for x, shape in [((3,), (2, 3)), ((2, 1), (2, 4)), ((), (3,)), ((1, 3), (0, 3)), ((2, 3), (2, 3)),
                     ((2, 1, 3), (4, 2, 5, 3))]:
        c.add("BroadcastTo", [floats(*x), np.array(shape, np.int32)])
    c.add("BroadcastTo", [floats(2), i32(3)], note="bad", error="")
    pairs = [((2, 3), (3,)), ((), (2,)), ((2, 1), (1, 3)), ((2, 3), (2, 3)), ((1, 3), (1, 3)),
             ((1, 1), (1,)), ((4, 1, 1), (1, 5)), ((1,), (1,)), ((), ())]
    for a, b in pairs:
        c.add("BroadcastArgs", [np.array(a, np.int32), np.array(b, np.int32)])
        c.add("BroadcastGradientArgs", [np.array(a, np.int32), np.array(b, np.int32)])
    c.add("BroadcastArgs", [i32(2, 3), i32(4)], note="bad", error="")
    c.add("BroadcastGradientArgs", [i32(2, 3), i32(4)], note="bad", error="")
    for x in [np.array([[True, False], [True, True]]), np.array([0.0, 1, NAN], np.float32), ints(6),
              np.array([[0, 2], [-1, 0]], BF16),
              np.array([0, 1j, 1, -0.0], np.complex64), np.array([0, 1j], np.complex128)]:
        c.add("Where", [x])
