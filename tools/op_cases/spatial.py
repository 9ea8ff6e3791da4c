# SPDX-License-Identifier: Apache-2.0
from op_cases.framework import *


def depth(c):
    for dtype in [np.float32, np.float64, np.int32, np.uint8, np.bool_]:
        x = ints(2, 2, 3, 8).astype(dtype)
        c.add("DepthToSpace", [x], {"block_size": 2}, note=tf.as_dtype(dtype).name)
    c.add("DepthToSpace", [floats(1, 2, 1, 9)], {"block_size": 3}, note="three")
    c.add("DepthToSpace", [floats(0, 2, 1, 4)], {"block_size": 2}, note="empty")
    c.add("DepthToSpace", [floats(1, 2, 1, 5)], {"block_size": 2}, note="depth",
          error="should be divisible by")
    c.add("SpaceToDepth", [floats(2, 4, 6, 3)], {"block_size": 2}, note="two")
    c.add("SpaceToDepth", [floats(1, 3, 6, 1)], {"block_size": 3}, note="three")
    c.add("SpaceToDepth", [floats(1, 3, 4, 1)], {"block_size": 2}, note="odd",
          error="should be divisible by block_size: 2")


def batch(c):
    pads = [[[0, 0], [0, 0]], [[1, 1], [0, 2]], [[2, 0], [1, 1]]]
    for p in pads:
        x = floats(2, 4, 6, 3)
        c.add("SpaceToBatchND", [x, i32(2, 2), i32(*p)], note="nd")
        c.add("SpaceToBatch", [x, i32(*p)], {"block_size": 2}, note="v1")
        c.add("BatchToSpaceND", [floats(8, 4, 3, 2), i32(2, 2), i32(*p)], note="nd")
        c.add("BatchToSpace", [floats(8, 4, 3, 2), i32(*p)], {"block_size": 2}, note="v1")
    c.add("SpaceToBatchND", [floats(1, 5, 2), i32(3), i32([1, 3])], note="one_dim")
    c.add("BatchToSpaceND", [ints(6, 5), i32(3), i32([1, 2])], note="one_dim")
    c.add("SpaceToBatchND", [floats(1, 2, 4, 3, 2), i32(1, 2, 3), i32([0, 0], [1, 1], [2, 1])],
          note="three_dims")
    c.add("SpaceToBatchND", [floats(0, 4, 2), i32(2), i32([0, 0])], note="empty")
    c.add("SpaceToBatchND", [floats(1, 1, 1), i32(4), i32([1, 2])], note="mostly_padding")
    c.add("SpaceToBatchND", [floats(1, 5, 2), i32(2), i32([0, 0])], note="odd",
          error="padded_shape[0]=5 is not divisible by block_shape[0]=2")
    c.add("SpaceToBatchND", [floats(1, 5, 2), i32(0), i32([0, 0])], note="zero_block",
          error="All values in block_shape must be positive")
    c.add("BatchToSpaceND", [floats(3, 5, 2), i32(2), i32([0, 0])], note="batch",
          error="is not divisible by product of block sizes")


def patches(c):
    for padding in ["SAME", "VALID"]:
        for size, stride, rate in [(2, 1, 1), (3, 2, 1), (2, 2, 2)]:
            attrs = {"ksizes": [1, size, size, 1], "strides": [1, stride, stride, 1],
                     "rates": [1, rate, rate, 1], "padding": padding}
            c.add("ExtractImagePatches", [floats(2, 5, 6, 2)], attrs, note="f32")
            c.add("ExtractImagePatches", [ints(1, 4, 4, 1, dtype=np.uint8)], attrs, note="u8")
            c.add("Dilation2D", [floats(2, 5, 6, 2), floats(size, size, 2)],
                  {k: v for k, v in attrs.items() if k != "ksizes"}, note=f"{padding}")
            back = {k: v for k, v in attrs.items() if k != "ksizes"}
            x, f = floats(2, 5, 6, 2), floats(size, size, 2)
            dy = floats(*raw.Dilation2D(input=x, filter=f, **back).shape)
            c.add("Dilation2DBackpropInput", [x, f, dy], back, note=padding)
            c.add("Dilation2DBackpropFilter", [x, f, dy], back, note=padding)
        c.add("ExtractVolumePatches", [floats(1, 3, 4, 3, 2)],
              {"ksizes": [1, 2, 2, 2, 1], "strides": [1, 1, 2, 1, 1], "padding": padding})
    c.add("Dilation2D", [ints(1, 4, 4, 1), ints(2, 2, 1)],
          {"strides": [1, 1, 1, 1], "rates": [1, 1, 1, 1], "padding": "SAME"}, note="int32")
    x = floats(2, 6, 7, 2)
    for centered in [True, False]:
        for normalized in [True, False]:
            offsets = np.array([[0.2, -0.3], [0.5, 0.9]] if normalized else [[1, -2], [3, 5]],
                               np.float32)
            c.add("ExtractGlimpse", [x, i32(3, 4), offsets],
                  {"centered": centered, "normalized": normalized, "uniform_noise": False,
                   "noise": "zero"}, note=f"c{int(centered)}_n{int(normalized)}")


def fractional(c):
    for pseudo in [True, False]:
        for overlapping in [True, False]:
            attrs = {"pooling_ratio": [1.0, 1.44, 1.73, 1.0], "pseudo_random": pseudo,
                     "overlapping": overlapping, "deterministic": True, "seed": 7, "seed2": 3}
            c.add("FractionalMaxPool", [floats(2, 9, 11, 2)], attrs, note=f"p{int(pseudo)}")
            c.add("FractionalAvgPool", [floats(1, 9, 11, 2)], attrs, note=f"p{int(pseudo)}")


@family
def spatial(c):
    depth(c)
    batch(c)
    patches(c)
    fractional(c)
