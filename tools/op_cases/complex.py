# SPDX-License-Identifier: Apache-2.0
from op_cases.framework import *


def pair(real, imag, dtype):
    return (np.array(real) + 1j * np.array(imag)).astype(dtype)


@family
def complex(c):
    for dtype in COMPLEX:
        name = np.dtype(dtype).name
        tolerance = {"rtol": 2e-5, "atol": 2e-6} if dtype == np.complex64 else {}
        x = pair([0.5, -1.25, 2, 0, -0.3], [1, 0.5, -2, 0.75, -0.1], dtype)
        y = pair([1.5, 0.25, -1, 2, 0.4], [-1, 2, 0.5, 0, 0.9], dtype)
        for op in ["Conj", "Neg", "Sign", "Exp", "Expm1", "Log", "Log1p", "Sqrt", "Rsqrt", "Square",
                   "Reciprocal", "Inv", "Sin", "Cos", "Tan", "Asin", "Acos", "Atan", "Sinh", "Cosh", "Tanh",
                   "Asinh", "Acosh", "Atanh", "Sigmoid"]:
            c.add(op, [x], note=name, **tolerance)
        parts = tf.float32 if dtype == np.complex64 else tf.float64
        for op in ["Real", "Imag", "Angle", "ComplexAbs"]:
            c.add(op, [x], {"Tout": parts}, note=name, **tolerance)
        real = np.float32 if dtype == np.complex64 else np.float64
        c.add("Complex", [floats(2, 3, dtype=real), floats(3, dtype=real)], {"Tout": tf.as_dtype(dtype)}, note=name)
        for op in ["Add", "AddV2", "Sub", "Mul", "Div", "RealDiv", "DivNoNan", "MulNoNan", "Xdivy", "Xlogy",
                   "Xlog1py", "Pow", "SquaredDifference"]:
            c.add(op, [x, y], note=name, **tolerance)
            c.add(op, [x.reshape(5, 1), y[:2]], note=f"broadcast_{name}", **tolerance)
        zero = pair([0, 1, 0], [0, 2, 0], dtype)
        for op in ["DivNoNan", "MulNoNan", "Xdivy", "Xlogy", "Xlog1py"]:
            c.add(op, [zero, zero[::-1].copy()], note=f"zero_{name}")
        for op in ["SqrtGrad", "RsqrtGrad", "ReciprocalGrad"]:
            c.add(op, [pair([0, 1, NAN], [0, INF, 1], dtype), pair([0, 0, 0], [0, 0, 0], dtype)], note=f"no_gradient_{name}")
        for op in ["TanhGrad", "SigmoidGrad", "SqrtGrad", "RsqrtGrad", "ReciprocalGrad", "InvGrad"]:
            c.add(op, [x, y], note=name, **tolerance)
        for op in ["Equal", "NotEqual"]:
            c.add(op, [x, np.where([1, 0, 1, 0, 1], x, y).astype(dtype)], note=name)
        c.add("AddN", [[x, y, x]], note=name)
        m = complexes(2, 3, 4, dtype=dtype)
        for op in ["Sum", "Mean", "Prod", "EuclideanNorm"]:
            for axes in ([0, 2], [1], [2], [0, 1, 2], []):
                c.add(op, [m, np.array(axes, np.int32)], note=name, **tolerance)
        for op in ["Cumsum", "Cumprod"]:
            c.add(op, [m, np.int32(1)], {"exclusive": True}, note=name, **tolerance)
            c.add(op, [m, np.int32(2)], {"reverse": True}, note=f"reverse_{name}", **tolerance)
        a, b = complexes(2, 3, dtype=dtype), complexes(3, 4, dtype=dtype)
        c.add("MatMul", [a, b], note=name)
        c.add("MatMul", [a.T.copy(), b.T.copy()], {"transpose_a": True, "transpose_b": True}, note=f"transposed_{name}")
        for op in ["BatchMatMul", "BatchMatMulV2"]:
            c.add(op, [complexes(2, 3, 2, dtype=dtype), complexes(2, 4, 3, dtype=dtype)],
                  {"adj_x": True, "adj_y": True}, note=f"adjoint_{name}")
        c.add("BiasAdd", [a, y[:3]], note=name)
        c.add("BiasAddGrad", [a], note=name)
        c.add("ConjugateTranspose", [m, i32(2, 0, 1)], note=name)
        for to in (tf.complex64, tf.complex128, tf.float32, tf.float64, tf.int32, tf.bool, tf.half):
            c.add("Cast", [x], {"SrcT": tf.as_dtype(dtype), "DstT": to}, note=f"{name}_{to.name}")
        for source in (np.float32, np.float64, np.int32, np.uint8, np.float16):
            c.add("Cast", [any_numbers(source, 4)], {"DstT": tf.as_dtype(dtype)},
                  note=f"{np.dtype(source).name}_{name}")
    c.add("ConjugateTranspose", [floats(2, 3), i32(1, 0)], note="real")
    c.add("ConjugateTranspose", [floats(2, 3), i32(1, 1)], note="bad", error="")
    x = floats(2, 3)
    c.add("AccumulateNV2", [[x, x]], {"shape": [2, 3]}, expect=[x + x])  # has no kernel of its own
    for dtype in (np.float16, BF16):
        c.add("AddN", [[floats(3, dtype=dtype), floats(3, dtype=dtype), floats(3, dtype=dtype)]],
              note=tf.as_dtype(dtype).name)
        c.add("Cumsum", [floats(2, 4, dtype=dtype), np.int32(1)], note=tf.as_dtype(dtype).name)
        c.add("TopKV2", [floats(2, 5, dtype=dtype), np.int32(3)], note=tf.as_dtype(dtype).name)
        c.add("ClipByValue", [floats(6, dtype=dtype), dtype(-1), dtype(1)], note=tf.as_dtype(dtype).name)
