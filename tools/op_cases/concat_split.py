# SPDX-License-Identifier: Apache-2.0
from op_cases.framework import *


@family
def concat_split(c):
    for axis in (0, 1, -1):
        c.add("ConcatV2", [[floats(2, 3), floats(2, 3)], np.int32(axis)])
    c.add("ConcatV2", [[floats(2, 1), floats(2, 4), floats(2, 0)], np.int32(1)], note="uneven")
    c.add("ConcatV2", [[np.array(["a"]), np.array(["b", "c"])], np.int32(0)], note="string")
    c.add("ConcatV2", [[ints(2, 2, dtype=np.uint8), ints(1, 2, dtype=np.uint8)], np.int64(0)], note="u8")
    c.add("ConcatV2", [[floats(2, 3), floats(2, 4)], np.int32(0)], note="bad",
          error="ConcatOp : Dimension 1 in both shapes must be equal: shape[0] = [2,3] vs. shape[1] = [2,4]")
    c.add("ConcatV2", [[floats(2, 3), floats(2)], np.int32(0)], note="rank", error="ConcatOp : Ranks of all")
    c.add("ConcatV2", [[floats(2), floats(2)], np.int32(1)], note="axis",
          error="ConcatOp : Expected concatenating dimensions in the range [-1, 1), but got 1")
    c.add("ConcatOffset", [np.int32(1), [i32(2, 3), i32(2, 4), i32(2, 5)]])
    c.add("ConcatOffset", [np.int32(1), [i32(2, 3), i32(3, 4)]], note="bad",
          error="All dimensions except 1 must match.")
    for axis in (0, 1, 2, -1, -3):
        c.add("Pack", [[floats(2, 3), floats(2, 3)]], {"axis": axis})
    c.add("Pack", [[np.int32(1), np.int32(2), np.int32(3)]], note="scalars")
    c.add("Pack", [[np.array("a"), np.array("b")]], note="string")
    c.add("Pack", [[floats(2), floats(3)]], note="bad", error="Shapes of all inputs must match")
    c.add("Pack", [[floats(2), floats(2)]], {"axis": 2}, note="axis", error="")
    for axis in (0, 1, -1):
        x = floats(2, 3, 2)
        c.add("Unpack", [x], {"num": x.shape[axis], "axis": axis})
    c.add("Unpack", [floats(2, 3)], {"num": 3, "axis": 0}, note="bad", error="")
    for axis, n in [(0, 2), (1, 3), (-1, 1), (1, 6)]:
        c.add("Split", [np.int32(axis), floats(4, 6)], {"num_split": n})
    c.add("Split", [np.int32(0), floats(5)], {"num_split": 2}, note="bad",
          error="should evenly divide the split dimension, but got split_dim 0 (size = 5) and num_split 2")
    c.add("Split", [np.int32(1), floats(4)], {"num_split": 2}, note="axis", error="")
    for sizes, axis in [([1, 3], 0), ([2, -1], 0), ([1, 2, 3], 1), ([0, 6], -1)]:
        c.add("SplitV", [floats(4, 6), np.array(sizes, np.int32), np.int32(axis)], {"num_split": len(sizes)})
    c.add("SplitV", [floats(4), i32(1, 2), np.int32(0)], {"num_split": 2}, note="bad",
          error="Determined shape must either match input shape along split_dim exactly if fully specified")
    c.add("SplitV", [floats(4), i32(5, -1), np.int32(0)], {"num_split": 2}, note="bad_rest", error="")
    c.add("SplitV", [floats(4), i32(-1, -1), np.int32(0)], {"num_split": 2}, note="two", error="")
