# SPDX-License-Identifier: Apache-2.0
from op_cases.framework import *

I64 = np.int64


def i64(*values):
    return np.array(values, I64)


def to_tensor(c):
    def add(shape, values, default, partitions, types, **rest):
        c.add("RaggedTensorToTensor", [shape, values, default, partitions],
              {"num_row_partition_tensors": len(partitions), "row_partition_types": types}, **rest)
    splits, ids = [i64(0, 2, 2, 5)], [np.int64(4), i64(0, 0, 2, 2, 2)]
    by_ids = ["FIRST_DIM_SIZE", "VALUE_ROWIDS"]
    for dtype in [np.float32, np.float64, np.float16, BF16, np.int32, np.int64, np.uint8, np.bool_]:
        add(np.int64(-1), np.array([1, 2, 3, 0, 5]).astype(dtype), np.array(1, dtype), splits, ["ROW_SPLITS"])
    words = np.array(["a", "b", "c", "d", "e"])
    for shape in (np.int32(-1), i32(-1, -1), i32(2, 2), i32(5, -1), i32(-1, 4), i32(0, 3)):
        add(shape, words, np.array("-"), splits, ["ROW_SPLITS"], note="words")
        add(shape, words, np.array("-"), ids, by_ids, note="ids")
    pairs = floats(5, 2)
    for default in (np.float32(9), np.array([7, 8], np.float32), np.array([7], np.float32)):
        add(np.int64(-1), pairs, default, splits, ["ROW_SPLITS"], note="inner")
    add(i64(-1, 2, -1), pairs, np.float32(0), splits, ["ROW_SPLITS"], note="inner")
    nested = [i64(0, 1, 3), i64(0, 2, 2, 5)]
    add(np.int64(-1), words, np.array(""), nested, ["ROW_SPLITS", "ROW_SPLITS"], note="nested")
    add(i64(3, 1, 2), words, np.array(""), nested, ["ROW_SPLITS", "ROW_SPLITS"], note="nested")
    add(np.int32(-1), words, np.array(""), [i32(0, 2, 5)], ["ROW_SPLITS"], note="int32")
    add(np.int64(-1), np.zeros([0], np.float32), np.float32(0), [i64(0)], ["ROW_SPLITS"], note="empty")
    add(np.int64(-1), np.zeros([0], np.float32), np.float32(0), [i64(0, 0, 0)], ["ROW_SPLITS"], note="empty")


def to_sparse(c):
    for dtype in (np.int64, np.int32):
        c.add("RaggedTensorToSparse", [[np.array([0, 2, 2, 5], dtype)], floats(5)], {"RAGGED_RANK": 1})
    c.add("RaggedTensorToSparse", [[i64(0, 1, 3), i64(0, 2, 2, 5)], np.array(["a", "b", "c", "d", "e"])], {"RAGGED_RANK": 2})
    c.add("RaggedTensorToSparse", [[i64(0, 1, 3)], floats(3, 2)], {"RAGGED_RANK": 1}, note="inner")
    c.add("RaggedTensorToSparse", [[i64(0)], floats(0)], {"RAGGED_RANK": 1}, note="empty")


def ranges(c):
    for dtype in [np.int32, np.int64, np.float32, np.float64]:
        for splits in (tf.int32, tf.int64):
            c.add("RaggedRange", [np.array([0, 5, 8], dtype), np.array([3, 5, 2], dtype), np.array([1, 1, -2], dtype)],
                  {"Tsplits": splits})
            c.add("RaggedRange", [np.array(1, dtype), np.array([3, 0, 6], dtype), np.array(2, dtype)], {"Tsplits": splits},
                  note="broadcast")
    c.add("RaggedRange", [np.int32(0), np.int32(4), np.int32(1)], {"Tsplits": tf.int64}, note="scalar")
    c.add("RaggedRange", [np.float32(0), np.float32(1), np.float32(0.3)], {"Tsplits": tf.int64}, note="fraction")
    c.add("RaggedRange", [i32(0), i32(3), i32(0)], {"Tsplits": tf.int64}, note="bad", error="Requires delta != 0")
    c.add("RaggedRange", [i32(0, 1), i32(3), i32(1)], {"Tsplits": tf.int64}, note="bad_shape",
          error="starts, limits, and deltas must have the same shape")


def gathers(c):
    for splits in (np.int64, np.int32):
        for index in (np.int32, np.int64):
            c.add("RaggedGather", [[np.array([0, 2, 2, 5], splits)], floats(5), np.array([2, 0, 1, 2], index)],
                  {"PARAMS_RAGGED_RANK": 1, "OUTPUT_RAGGED_RANK": 1})
    c.add("RaggedGather", [[i64(0, 1, 3), i64(0, 2, 2, 5)], np.array(["a", "b", "c", "d", "e"]), i32(1, 0, 1)],
          {"PARAMS_RAGGED_RANK": 2, "OUTPUT_RAGGED_RANK": 2})
    c.add("RaggedGather", [[i64(0, 2, 2, 5)], floats(5, 2), np.array([[1, 0], [2, 2]], I32)],
          {"PARAMS_RAGGED_RANK": 1, "OUTPUT_RAGGED_RANK": 2}, note="matrix")
    for bad in (3, -1):
        c.add("RaggedGather", [[i64(0, 2, 2, 5)], floats(5), i32(bad)], {"PARAMS_RAGGED_RANK": 1, "OUTPUT_RAGGED_RANK": 1},
              note="bad", error=f"indices[0] = {bad} is not in [0, 3)")


def counts(c):
    for binary in (False, True):
        for dtype in (np.float32, np.float64, np.int32, np.int64):
            for index in (np.int32, np.int64):
                c.add("RaggedBincount", [i64(0, 3, 3, 5), np.array([1, 1, 7, 0, 2], index), np.array(4, index),
                                         np.array([], dtype)], {"binary_output": binary})
            c.add("RaggedBincount", [i64(0, 3, 5), i32(1, 1, 2, 0, 2), np.int32(3), any_numbers(dtype, 5)],
                  {"binary_output": binary}, note="weights")
    c.add("RaggedBincount", [i64(0, 1), i32(-1), np.int32(3), floats(0)], note="bad", error="Input must be non-negative")


@family
def ragged(c):
    for part in (to_tensor, to_sparse, ranges, gathers, counts):
        part(c)
