# SPDX-License-Identifier: Apache-2.0
from op_cases.framework import *


@family
def activations(c):
    for op in ["Relu", "Relu6", "LeakyRelu", "Elu", "Selu", "Softsign"]:
        for dtype in FLOATS:
            attrs = {"alpha": 0.25} if op == "LeakyRelu" else {}
            c.add(op, [floats(3, 7, dtype=dtype, low=-4, high=8)], attrs,
                  note=tf.as_dtype(dtype).name)
        c.add(op, [np.concatenate([SPECIAL, np.linspace(-30, 30, 31).astype(np.float32)])],
              note="special")
    for dtype in [np.int32, np.int64, np.uint8, np.int8]:
        c.add("Relu", [ints(5, dtype=dtype)], note=tf.as_dtype(dtype).name)
        c.add("Relu6", [ints(5, dtype=dtype)], note=tf.as_dtype(dtype).name)
    c.add("LeakyRelu", [floats(5)], note="default")
    gradient_first = ["ReluGrad", "Relu6Grad", "LeakyReluGrad", "EluGrad", "SeluGrad",
                      "SoftplusGrad", "SoftsignGrad"]
    for op in gradient_first:
        for dtype in FLOATS:
            attrs = {"alpha": 0.25} if op == "LeakyReluGrad" else {}
            c.add(op, [floats(3, 7, dtype=dtype), floats(3, 7, dtype=dtype, low=-4, high=8)], attrs,
                  note=tf.as_dtype(dtype).name)
        c.add(op, [np.ones(4, np.float32), np.array([0.0, -0.0, 6.0, -1.0], np.float32)], note="edge")
    for op in ["TanhGrad", "SigmoidGrad", "RsqrtGrad", "SqrtGrad", "ReciprocalGrad", "InvGrad"]:
        for dtype in [np.float32, np.float64, np.float16]:
            if op == "InvGrad" and dtype == np.float16:
                continue
            c.add(op, [floats(3, 7, dtype=dtype, low=0.1, high=0.9), floats(3, 7, dtype=dtype)],
                  note=tf.as_dtype(dtype).name)
    for op in ["RsqrtGrad", "SqrtGrad", "ReciprocalGrad", "InvGrad"]:  # dy 0 stops NaN and infinity
        for dtype in [np.float32, np.float64]:
            c.add(op, [np.array([0, NAN, INF, 2, 0], dtype), np.array([0, 0, 0, 0, 1], dtype)], note=f"zero_{np.dtype(dtype).name}")
    c.add("ReluGrad", [floats(2, 3), floats(3, 2)], note="bad", error="")
