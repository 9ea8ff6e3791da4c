# SPDX-License-Identifier: Apache-2.0
from op_cases.framework import *


@family
def gather_scatter(c):
    for axis, indices in [(0, [0, 2]), (1, [[1, 0], [2, 2]]), (-1, [1]), (0, [])]:
        c.add("GatherV2", [floats(3, 3, 2)[:, :, :], np.array(indices, np.int32), np.int32(axis)])
    c.add("GatherV2", [floats(3, 2), np.int32(1), np.int32(0)], note="scalar")
    c.add("GatherV2", [np.array(["a", "b", "c"]), i32(2, 0), np.int32(0)], note="string")
    c.add("GatherV2", [floats(2, 3, 4), i32(0, 2, 1, 1).reshape(2, 2), np.int32(1)], {"batch_dims": 1},
          note="batch")
    c.add("GatherV2", [floats(2, 3, 4), i32(0, 3, 1, 1).reshape(2, 2), np.int32(2)], {"batch_dims": 1},
          note="batch_axis2")
    c.add("GatherV2", [floats(2, 3), i32(0, 2), np.int32(1)], {"batch_dims": -1}, note="batch_neg")
    c.add("GatherV2", [floats(5), i32(7, 0), np.int32(0)], note="range", error="indices[0] = 7 is not in [0, 5)")
    c.add("GatherV2", [floats(5), i32(0, -1), np.int32(0)], note="negative",
          error="indices[1] = -1 is not in [0, 5)")
    c.add("GatherV2", [floats(5, 2), i32(0, 1, 2, 9).reshape(2, 2), np.int32(0)], note="range2",
          error="indices[1,1] = 9 is not in [0, 5)")
    c.add("GatherV2", [floats(5), i32(0), np.int32(1)], note="axis", error="")
    c.add("GatherV2", [np.float32(1), i32(0), np.int32(0)], note="rank", error="")
    c.add("Gather", [floats(4, 2), i32(3, 1).astype(np.int64)])
    c.add("GatherNd", [floats(3, 4), i32(0, 1, 2, 3).reshape(2, 2)])
    c.add("GatherNd", [floats(3, 4), i32(0, 2).reshape(2, 1)], note="rows")
    c.add("GatherNd", [floats(3, 4), np.zeros((2, 0), np.int32)], note="whole")
    c.add("GatherNd", [floats(3, 4), i32(0, 4).reshape(1, 2)], note="range", error="does not index into")
    c.add("GatherNd", [floats(3), i32(0, 1).reshape(1, 2)], note="depth", error="")
    c.add("ScatterNd", [i32(1, 3, 1).reshape(3, 1), floats(3), i32(5)])
    c.add("ScatterNd", [i32(0, 2).reshape(2, 1), floats(2, 3), i32(4, 3)], note="rows")
    c.add("ScatterNd", [i32(1, 1).reshape(1, 2), ints(1), i32(2, 2)], note="int32")
    c.add("ScatterNd", [i32(5).reshape(1, 1), floats(1), i32(5)], note="range", error="does not index into")
    c.add("ScatterNd", [i32(0).reshape(1, 1), floats(2), i32(5)], note="bad", error="")
    for op in ["TensorScatterUpdate", "TensorScatterAdd"]:
        c.add(op, [floats(4, 2), i32(3, 1).reshape(2, 1), floats(2, 2)])
        c.add(op, [floats(4), i32(3, 3).reshape(2, 1), floats(2)], note="twice")
        c.add(op, [floats(4), i32(4).reshape(1, 1), floats(1)], note="range", error="does not index into")
    for op in ["UnsortedSegmentSum", "UnsortedSegmentProd", "UnsortedSegmentMax", "UnsortedSegmentMin"]:
        c.add(op, [floats(4, 2), i32(0, 2, 0, 3), np.int32(5)])
        c.add(op, [floats(4), i32(0, -1, 0, 1), np.int32(2)], note="negative")
        c.add(op, [ints(4), i32(0, 1, 0, 1), np.int32(3)], note="int32")
        c.add(op, [floats(2, 2), i32(0, 1, 1, 0).reshape(2, 2), np.int32(2)], note="matrix")
        c.add(op, [floats(2), i32(0, 2), np.int32(2)], note="range", error="is out of range [0, 2)")
        c.add(op, [floats(2), i32(0, 1, 1), np.int32(2)], note="bad", error="")
    for axis in (-1, 0, 1):
        c.add("OneHot", [i32(0, 2, -1, 5), np.int32(3), np.float32(1), np.float32(0)], {"axis": axis})
    c.add("OneHot", [i32(0, 1, 1, 2).reshape(2, 2), np.int32(3), np.int64(5), np.int64(-5)], {"axis": 1},
          note="int64")
    c.add("OneHot", [np.int64(1), np.int32(2), np.array(True), np.array(False)], note="bool")
    c.add("OneHot", [np.array([1, 0], np.uint8), np.int32(0), np.float32(1), np.float32(0)], note="depth0")
    c.add("OneHot", [i32(0), np.int32(-1), np.float32(1), np.float32(0)], note="bad", error="")
