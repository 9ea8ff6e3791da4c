# SPDX-License-Identifier: Apache-2.0
from op_cases.framework import *


@family
def ctc(c):
    near = {np.float32: {"rtol": 1e-4, "atol": 1e-5}, np.float64: {"rtol": 1e-6, "atol": 1e-7}}
    for dtype in (np.float32, np.float64):
        name = np.dtype(dtype).name
        x = floats(7, 3, 4, dtype=dtype)
        lengths = i32(7, 3, 0)
        for merge in (False, True):
            c.add("CTCGreedyDecoder", [x, lengths], {"merge_repeated": merge}, note=name)
            c.add("CTCBeamSearchDecoder", [x[:, :2], i32(7, 4)], {"beam_width": 6, "top_paths": 3, "merge_repeated": merge},
                  note=name, **near[dtype])
        c.add("CTCGreedyDecoder", [x, lengths], {"blank_index": 0}, note=f"blank_{name}")
        c.add("CTCBeamSearchDecoder", [x[:, :2], i32(7, 7)], {"beam_width": 100, "top_paths": 2}, note=f"wide_{name}",
              **near[dtype])
        labels = np.array([[0, 0], [0, 1], [0, 2], [1, 0], [2, 0]], np.int64)
        for merge in (False, True):
            c.add("CTCLoss", [x, labels, i32(1, 1, 2, 0, 2), i32(7, 5, 6)], {"ctc_merge_repeated": merge}, note=name,
                  **near[dtype])
        c.add("CTCLoss", [x, labels, i32(1, 1, 2, 0, 2), i32(7, 5, 6)], {"preprocess_collapse_repeated": True},
              note=f"collapse_{name}", **near[dtype])
        c.add("CTCLoss", [x, labels, i32(1, 1, 2, 0, 2), i32(2, 5, 6)], {"ignore_longer_outputs_than_inputs": True},
              note=f"longer_{name}", **near[dtype])
    x = floats(7, 3, 4)
    c.add("CTCLoss", [x, labels, i32(1, 1, 2, 0, 2), i32(3, 5, 6)], note="no_path", rtol=1e-4)
    c.add("CTCLoss", [x, labels, i32(1, 1, 2, 0, 2), i32(2, 5, 6)], note="longer", error="Not enough time")
    c.add("CTCGreedyDecoder", [x, i32(7, 3)], note="batch", error="len(sequence_length) != batch_size", code="FAILED_PRECONDITION")
    c.add("CTCGreedyDecoder", [x, i32(7, 3, 9)], note="length", error="sequence_length(2) <= 7", code="FAILED_PRECONDITION")
    c.add("CTCBeamSearchDecoder", [x, i32(0, 3, 1)], {"beam_width": 2, "top_paths": 2}, note="few",
          error="Less leaves in the beam search than requested")
