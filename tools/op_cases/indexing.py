# SPDX-License-Identifier: Apache-2.0
from op_cases.framework import *

ALL = FLOATS + INTS + COMPLEX


@family
def indexing(c):
    for dtype in ALL:
        name = tf.as_dtype(dtype).name
        ids = i32(0, 0, 2, 2, 2)
        for op in ("SegmentSum", "SegmentMean", "SegmentProd", "SegmentMax", "SegmentMin"):
            if dtype not in COMPLEX or op[7:] in ("Sum", "Mean", "Prod"):
                c.add(op, [any_numbers(dtype, 5, 2), ids], note=name)
        for op in ("UnsortedSegmentSum", "UnsortedSegmentProd", "UnsortedSegmentMax", "UnsortedSegmentMin"):
            if dtype not in COMPLEX or op[15:] in ("Sum", "Prod"):
                c.add(op, [any_numbers(dtype, 4, 2), i32(0, 2, 0, -1), np.int32(4)], note=f"any_{name}")
        if dtype not in COMPLEX:
            c.add("SparseSegmentSum", [any_numbers(dtype, 4, 2), i32(3, 0, 3), i32(0, 0, 2)], note=name)
            for op in ("TensorScatterMax", "TensorScatterMin"):
                c.add(op, [any_numbers(dtype, 4, 2), i32(3, 1, 3).reshape(3, 1), any_numbers(dtype, 3, 2)], note=name)
            for op in ("ResourceScatterMax", "ResourceScatterMin"):
                c.add(op, [None, i32(2, 0, 2), any_numbers(dtype, 3, 2)], variables={0: any_numbers(dtype, 3, 2)}, note=name)
        for op in ("TensorScatterAdd", "TensorScatterSub"):
            c.add(op, [any_numbers(dtype, 4), i32(3, 1, 3).reshape(3, 1), any_numbers(dtype, 3)], note=f"any_{name}")
        for op in ("ResourceScatterSub", "ResourceScatterMul", "ResourceScatterDiv"):
            updates = np.where(any_numbers(dtype, 3, 2) == 0, 1, any_numbers(dtype, 3, 2)).astype(dtype)
            updates = np.where(updates == 0, 2, updates).astype(dtype)
            c.add(op, [None, i32(2, 0, 2), updates], variables={0: any_numbers(dtype, 3, 2)}, note=name)
        for op in ("ResourceScatterNdAdd", "ResourceScatterNdSub", "ResourceScatterNdUpdate"):
            c.add(op, [None, i32(2, 0).reshape(2, 1), any_numbers(dtype, 2, 2)], variables={0: any_numbers(dtype, 3, 2)},
                  note=name)
    for dtype in FLOATS:
        name = tf.as_dtype(dtype).name
        for op in ("SparseSegmentMean", "SparseSegmentSqrtN"):
            c.add(op, [any_numbers(dtype, 4, 2), np.int64([3, 0, 3]), i32(0, 0, 2)], note=name)
            c.add(op + "WithNumSegments", [any_numbers(dtype, 4, 2), i32(3, 0, 3), i32(1, 1, 2), np.int32(5)], note=name)
    c.add("SparseSegmentSumWithNumSegments", [floats(4), i32(3, 0), np.int64([0, 1]), np.int64(3)])
    c.add("SegmentSum", [floats(3), i32(0, 2, 1)], note="order", error="segment ids are not increasing")
    c.add("SegmentSum", [floats(3), i32(-1, 0, 1)], note="negative", error="Segment id -1 out of range")
    c.add("SegmentSum", [floats(3), i32(0, 1)], note="size", error="")
    c.add("SegmentSum", [floats(0, 2), np.zeros(0, np.int64)], note="empty")
    c.add("SparseSegmentSum", [floats(3), i32(0, 7), i32(0, 1)], note="index", error="out of range")
    c.add("SparseSegmentSum", [floats(3), i32(0, 1), i32(1, 0)], note="order", error="segment ids are not increasing")
    c.add("SparseSegmentMeanWithNumSegments", [floats(3), i32(0), i32(4), np.int32(2)], note="segment", error="segment ids must be < num_segments")
    c.add("ResourceScatterNdAdd", [None, i32(3).reshape(1, 1), floats(1)], variables={0: floats(3)}, note="range", error="")
    c.add("ResourceScatterDiv", [None, i32(0), i32(0)], variables={0: i32(3)}, note="zero", error="updates must not contain 0")

    for dtype in FLOATS + INTS + [np.bool_]:
        name = tf.as_dtype(dtype).name
        x = (np.array([3, 1, 3, 0, 1, 7]) if dtype != np.bool_ else np.array([1, 0, 1])).astype(dtype)
        c.add("Unique", [x], note=name)
        c.add("UniqueWithCounts", [x], {"out_idx": tf.int64}, note=name)
        if dtype != np.bool_:
            c.add("ListDiff", [x, np.array([1, 9], dtype)], note=name)
            for op in ("LowerBound", "UpperBound"):
                c.add(op, [np.array([[0, 1, 3, 3, 7]], dtype), np.array([[3, 0, 9, 2]], dtype)], note=name)
            c.add("NthElement", [np.stack([x, x[::-1]]), np.int32(2)], note=name)
    words = np.array(["b", "a", "b", "", "a"])
    c.add("Unique", [words], {"out_idx": tf.int64}, note="string")
    c.add("ListDiff", [words, np.array(["a"])], {"out_idx": tf.int64}, note="string")
    c.add("Unique", [np.float32([NAN, 0.0, -0.0, NAN, 1])], note="nan")
    c.add("Unique", [floats(0)], note="empty")
    c.add("Unique", [floats(2, 2)], note="rank", error="")
    m = i32(1, 2, 1, 2, 3, 3, 1, 2, 1, 0, 0, 0).reshape(4, 3)
    for axis in ([0], [1], [-1]):
        c.add("UniqueV2", [m, np.array(axis, np.int64)])
        c.add("UniqueWithCountsV2", [m, np.array(axis, np.int32)], note="counts")
    c.add("UniqueV2", [i32(2, 2, 1), np.zeros(0, np.int64)], note="flat")
    c.add("UniqueV2", [m, np.array([2], np.int64)], note="axis", error="axis")
    c.add("NthElement", [floats(2, 5), np.int32(0)], {"reverse": True}, note="reverse")
    c.add("NthElement", [floats(2, 5), np.int32(5)], note="range", error="must have last dimension > n = 5")
    c.add("NthElement", [floats(2, 5), np.int32(-1)], note="negative", error="must be non-negative")
    c.add("LowerBound", [floats(2, 3), floats(3, 2)], note="rows", error="")

    c.add("DynamicPartition", [floats(5, 2), i32(0, 2, 0, 1, 2)], {"num_partitions": 3})
    c.add("DynamicPartition", [words, i32(1, 1, 0, 1, 1)], {"num_partitions": 2}, note="string")
    c.add("DynamicPartition", [floats(2, 2, 3), i32(0, 1, 1, 0).reshape(2, 2)], {"num_partitions": 4}, note="matrix")
    c.add("DynamicPartition", [floats(2, 3), np.int32(1)], {"num_partitions": 2}, note="scalar")
    c.add("DynamicPartition", [floats(2), i32(0, 3)], {"num_partitions": 2}, note="range", error="partitions[1] = 3 is not in [0, 2)")
    c.add("DynamicPartition", [floats(2), i32(0)], {"num_partitions": 2}, note="shape", error="")
    for op in ("DynamicStitch", "ParallelDynamicStitch"):
        c.add(op, [[i32(2, 0), i32(1, 3)], [floats(2, 2), floats(2, 2)]])
        c.add(op, [[np.int32(1), i32(0, 2)], [floats(2), floats(2, 2)]], note="scalar")
        c.add(op, [[i32(0)], [np.array(["x"])]], note="string")
    c.add("DynamicStitch", [[i32(0, 1), i32(1)], [floats(2), floats(1)]], note="twice")
    c.add("DynamicStitch", [[i32(0), i32(1)], [floats(1, 2), floats(1, 3)]], note="rows", error="")
    c.add("DynamicStitch", [[i32(-1)], [floats(1)]], note="negative", error="")
    c.add("ReverseSequence", [floats(3, 4, 2), np.int64([0, 2, 4])], {"seq_dim": 1})
    c.add("ReverseSequence", [floats(4, 2, 3), i32(1, 4, 3)], {"seq_dim": 0, "batch_dim": 2}, note="batch2")
    c.add("ReverseSequence", [np.array([["a", "b"]]), i32(2)], {"seq_dim": 1}, note="string")
    c.add("ReverseSequence", [floats(2, 3), i32(1, 4)], {"seq_dim": 1}, note="long", error="seq_lens(1) > input.dims(1)")
    c.add("ReverseSequence", [floats(2, 3), i32(1)], {"seq_dim": 1}, note="count", error="")
    for shift, axis in ((1, 0), (-1, 1), ([1, 2], [0, 1]), ([1, 5, -2], [0, 0, 2])):
        c.add("Roll", [floats(3, 4, 2), np.array(shift, np.int32), np.array(axis, np.int64)])
    c.add("Roll", [np.array(["a", "b", "c"]), np.int64(1), np.int32(-1)], note="string")
    c.add("Roll", [floats(0, 2), np.int32(1), np.int32(0)], note="empty")
    c.add("Roll", [floats(3), np.int32(1), np.int32(1)], note="axis", error="out of range")
    c.add("Roll", [floats(3), i32(1, 2), i32(0)], note="sizes", error="")
    c.add("UnravelIndex", [i32(22, 41, 37), i32(7, 6)])
    c.add("UnravelIndex", [np.int64(1621), np.int64([6, 7, 8, 9])], note="scalar")
    c.add("UnravelIndex", [i32(42), i32(7, 6)], note="range", error="index is out of bound as with dims")
    c.add("UnravelIndex", [i32(0), i32(7, 0)], note="zero", error="")
    variable = {0: floats(3, 4)}
    c.add("ResourceStridedSliceAssign", [None, i32(0, 1), i32(2, 3), i32(1, 1), floats(2, 2)], variables=variable,
          note="part")
    c.add("ResourceStridedSliceAssign", [None, i32(1), i32(2), i32(1), floats(4)], {"shrink_axis_mask": 1},
          variables=variable, note="row")
    c.add("ResourceStridedSliceAssign", [None, i32(0), i32(2), i32(1), floats(3)], variables=variable, note="bad", error="")
    c.add("TensorStridedSliceUpdate", [floats(3, 4), i32(2, 3), i32(0, 0), i32(-1, -2), floats(2, 2)])
