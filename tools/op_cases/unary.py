# SPDX-License-Identifier: Apache-2.0
from op_cases.framework import *


@family
def unary(c):
    anywhere = ["Abs", "Neg", "Sign", "Square", "Exp", "Expm1", "Sin", "Cos", "Tan", "Atan", "Sinh",
                "Cosh", "Asinh", "Tanh", "Sigmoid", "Erf", "Erfc", "Floor", "Ceil", "Round", "Rint",
                "Reciprocal", "Inv", "Softplus", "Log", "Log1p", "Sqrt", "Rsqrt", "Asin", "Acos",
                "Acosh", "Atanh", "Lgamma", "Digamma"]
    for op in anywhere:
        low, high = (0.1, 4) if op in ("Log", "Sqrt", "Rsqrt", "Lgamma", "Digamma") else (-3, 3)
        if op in ("Asin", "Acos", "Atanh"):
            low, high = -0.99, 0.99
        if op == "Acosh":
            low, high = 1.01, 5
        for dtype in FLOATS:
            if op == "Inv" and dtype in (np.float16, BF16):
                continue
            c.add(op, [floats(3, 7, dtype=dtype, low=low, high=high)], note=tf.as_dtype(dtype).name)
        special = SPECIAL
        if op in ("Sin", "Cos", "Tan"):
            special = SPECIAL[:-1]
        c.add(op, [special], note="special", atol=1e-30 if op in ("Exp", "Softplus") else 1e-6)
        c.add(op, [floats(0, 3)], note="empty")
        c.add(op, [np.float32(0.75 if op != "Acosh" else 1.75)], note="scalar")
    for op in ["Exp", "Tanh", "Sigmoid", "Expm1"]:
        # TensorFlow flushes results below the normal range to 0.
        c.add(op, [np.linspace(-100, 100, 67).astype(np.float32)], note="wide", atol=1.2e-38, rtol=4e-6)
        c.add(op, [np.linspace(-0.01, 0.01, 21).astype(np.float32)], note="small", atol=1e-9)
    for dtype in (np.float32, np.float64):
        c.add("Erfinv", [np.array([0, 1e-9, -0.1, 0.3, 0.7, -0.99, 0.999999, 1, -1, 1.5], dtype)],
              note=tf.as_dtype(dtype).name, rtol=5e-3 if dtype == np.float32 else 1e-9,
              atol=1e-8 if dtype == np.float32 else 1e-15)
        c.add("Ndtri", [np.array([0, 1e-12, 0.01, 0.3, 0.5, 0.7, 0.999, 1, 1.5], dtype)],
              note=tf.as_dtype(dtype).name, rtol=1e-5 if dtype == np.float32 else 1e-9, atol=1e-7)
    c.add("Round", [np.array([0.5, 1.5, 2.5, -0.5, -1.5, 2.4999, 1e9], np.float32)], note="ties")
    c.add("Rint", [np.array([0.5, 1.5, 2.5, -0.5, -1.5], np.float64)], note="ties")
    for op in ["Abs", "Neg", "Sign", "Square"]:
        for dtype in [np.int32, np.int64, np.int8, np.int16]:
            c.add(op, [ints(2, 5, dtype=dtype)], note=tf.as_dtype(dtype).name)
    c.add("LogicalNot", [np.array([True, False])])
    for dtype in [np.int32, np.uint8, np.int64]:
        c.add("Invert", [ints(5, dtype=dtype)], note=tf.as_dtype(dtype).name)
    for op in ["IsNan", "IsInf", "IsFinite"]:
        for dtype in FLOATS:
            c.add(op, [SPECIAL[:7].astype(dtype)], note=tf.as_dtype(dtype).name)
