# SPDX-License-Identifier: Apache-2.0
from op_cases.framework import *

# TensorFlow's own approximations are good to about 1e-6 in float and 1e-9 in double.
ROUGH = {np.float32: {"rtol": 2e-5, "atol": 2e-6}, np.float64: {"rtol": 1e-8, "atol": 1e-10},
         np.float16: {"rtol": 4e-3, "atol": 2e-3}}


@family
def special(c):
    points = {"any": [-7.5, -3.0, -0.5, 0.0, 0.25, 1.0, 1.5, 2.0, 3.75, 8.0, 12.5, NAN],
              "positive": [-1.0, 0.0, 0.05, 0.5, 1.0, 2.0, 2.5, 5.0, 9.0, 20.0, NAN]}
    for op in ["BesselI0", "BesselI0e", "BesselI1", "BesselI1e", "BesselJ0", "BesselJ1", "Dawsn",
               "FresnelCos", "FresnelSin"]:
        for dtype in ROUGH:
            c.add(op, [np.array(points["any"]).astype(dtype)], note=np.dtype(dtype).name, **ROUGH[dtype])
    for op in ["BesselK0", "BesselK0e", "BesselK1", "BesselK1e", "BesselY0", "BesselY1", "Expint",
               "Spence"]:
        for dtype in ROUGH:
            at = [x for x in points["positive"] if op != "BesselY1" or x != 0]  # NaN only in float
            c.add(op, [np.array(at).astype(dtype)], note=np.dtype(dtype).name,
                  **ROUGH[dtype])
    for op in ["BesselK0e", "BesselK1e"]:
        c.add(op, [np.float64([41, 1000, 1e4, 1e9])], note="large", rtol=1e-12)
    for op in ["BesselI0e", "Dawsn", "Spence", "Expint", "BesselJ0"]:
        c.add(op, [floats(0, 2)], note="empty")
        c.add(op, [np.float32([INF, 1e20])], note="far", rtol=1e-4)
    for dtype in (np.float32, np.float64):
        name, near = np.dtype(dtype).name, ROUGH[dtype]
        a = np.array([0.1, 0.5, 1, 2, 5, 10, 30, 100], dtype)
        x = np.array([[0.01], [0.5], [1.5], [9], [40], [110]], dtype)
        c.add("Igamma", [a, x], note=name, **near)
        c.add("Igammac", [a, x], note=name, **near)
        c.add("IgammaGradA", [a, x], note=name, **{**near, "atol": 1e-6})
        c.add("Zeta", [np.array([1.5, 2, 3, 7], dtype), np.array([[0.5], [1], [4.25], [20]], dtype)],
              note=name, **near)
        c.add("Polygamma", [np.array([0, 1, 2, 5], dtype), np.array([[0.5], [1], [4.25], [20]], dtype)],
              note=name, **near)
        c.add("Betainc", [np.array([0.5, 1, 3, 10, 2, 50], dtype), np.array([0.5, 2, 1, 4, 9, 60], dtype),
                          np.array([0.1, 0.3, 0.5, 0.8, 0.99, 0.45], dtype)], note=name, **near)
        c.add("Betainc", [dtype(2), dtype(3), np.array([0, 0.25, 1, -0.5, 2], dtype)], note=f"scalars_{name}",
              **near)
    edge_a = np.float32([-1, 0, 0, 1, 1, 1, INF, NAN])
    edge_x = np.float32([1, 1, 0, 0, -1, INF, 1, 1])
    c.add("Igamma", [edge_a, edge_x], note="edges")
    c.add("Igammac", [edge_a, edge_x], note="edges")
    c.add("Zeta", [np.float32([1, 0.5, 2, 3, 2.5, 2, 3, NAN, 2]), np.float32([2, 2, 0, 0, -1.5, -1.5, -1.5, 1, -3])],
          note="edges")
    c.add("Polygamma", [np.float32([0.5, -1, 1, 2, 3]), np.float32([2, 0, 0, -1.5, -1.5])], note="edges")
    c.add("Betainc", [floats(3), floats(2), floats(3)], note="bad", error="inconsistent")
    for dtype in INTS:
        c.add("PopulationCount", [ints(7, dtype=dtype, low=-100, high=100)], note=np.dtype(dtype).name)
    for dtype in FLOATS + INTS:
        c.add("Cross", [any_numbers(dtype, 2, 3), any_numbers(dtype, 2, 3)], note=np.dtype(dtype).name)
    c.add("Cross", [floats(4), floats(4)], note="bad", error="3-element vectors", code="FAILED_PRECONDITION")
    c.add("Cross", [floats(3), floats(4)], note="shapes", error="same shape")
    for dtype in FLOATS:
        c.add("CumulativeLogsumexp", [floats(2, 5, dtype=dtype), np.int32(1)], note=np.dtype(dtype).name)
    for exclusive, reverse in ((True, False), (False, True), (True, True)):
        c.add("CumulativeLogsumexp", [floats(3, 2), np.int32(0)], {"exclusive": exclusive, "reverse": reverse})
    c.add("CumulativeLogsumexp", [np.float32([-INF, -INF, 3, INF, 1]), np.int64(-1)], note="infinite")
    c.add("CumulativeLogsumexp", [floats(3), np.int32(1)], note="axis", error="")
    for dtype in (np.int32, np.int64, np.float32, np.float64):
        c.add("Bucketize", [np.array([-5, 0, 1, 3, 7, 100], dtype)], {"boundaries": [0.0, 3.0, 50.0]},
              note=np.dtype(dtype).name)
        c.add("Bincount", [i32(1, 0, 5, 1), np.int32(4), any_numbers(dtype, 4)], note=np.dtype(dtype).name)
        c.add("Bincount", [i32(1, 0, 1), np.int32(3), np.zeros(0, dtype)], note=f"ones_{np.dtype(dtype).name}")
        for index in (np.int32, np.int64):
            c.add("DenseBincount", [np.array([[1, 0, 2], [2, 2, 9]], index), index(4), any_numbers(dtype, 2, 3)],
                  note=f"{np.dtype(dtype).name}_{np.dtype(index).name}")
        c.add("DenseBincount", [i32(1, 1, 3), np.int32(5), np.zeros(0, dtype)], {"binary_output": True},
              note=f"binary_{np.dtype(dtype).name}")
        for out in (tf.int32, tf.int64):
            c.add("HistogramFixedWidth", [np.array([-1, 0, 0, 2, 3, 5, 9], dtype), np.array([0, 5], dtype), np.int32(4)],
                  {"dtype": out}, note=f"{np.dtype(dtype).name}_{out.name}")
    c.add("Bucketize", [np.float32([1, NAN, 3])], {"boundaries": [1.0, 3.0]}, note="nan")
    c.add("Bucketize", [floats(2)], {"boundaries": [3.0, 1.0]}, note="unsorted", error="Expected sorted boundaries")
    c.add("Bincount", [i32(1, -1), np.int32(3), floats(0)], note="negative", error="Input arr must be non-negative!")
    c.add("Bincount", [i32(1), np.int32(-3), floats(0)], note="size", error="must be non-negative")
    c.add("Bincount", [i32(1, 1), np.int32(3), floats(1)], note="weights", error="must have the same size")
    c.add("DenseBincount", [i32(1, 1), np.int32(3), floats(1)], note="weights", error="length-0 `Tensor`")
    c.add("DenseBincount", [i32(1).reshape(1, 1, 1), np.int32(3), floats(0)], note="rank",
          error="at most rank 2 but is rank 3")
    c.add("DenseBincount", [np.int32(1), np.int32(3), floats(0)], note="scalar")
    bad_range = {"note": "range", "error": "value_range[0] < value_range[1], but got '[1, 1]'"}
    c.add("HistogramFixedWidth", [floats(2), np.float32([1, 1]), np.int32(3)], **bad_range)
    c.add("HistogramFixedWidth", [floats(2), np.float32([0, 1]), np.int32(0)], note="bins", error="positive number")
    c.add("HistogramFixedWidth", [np.float32([NAN]), np.float32([0, 1]), np.int32(3)], note="nan", error="NaN")
