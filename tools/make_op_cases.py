#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes tests/golden/ops/*.jsonl: ops with inputs and what TensorFlow makes of them.

  python tools/make_op_cases.py [FAMILY...]

Needs TensorFlow. One case a line:
  {"name", "op", "attrs", "inputs": {"0": TENSOR, ...}, "outputs": {"0": TENSOR, ...}}
  {"name", "op", "attrs", "inputs", "error": {"code", "contains"}}
A TENSOR is typed tensor JSON. "variables" in place of some inputs: these are handles of variables
with that value; "after" is what the variables hold then. "rtol" and "atol" where the defaults of
the dtype (src/kernels/op_cases_test.cc) do not fit. Every error is provoked in TensorFlow too, and
its message must hold the text.
"""
import json
import os
import pathlib
import sys

os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow as tf

raw = tf.raw_ops
ROOT = pathlib.Path(__file__).resolve().parent.parent
FAMILIES = {}
NAN, INF = float("nan"), float("inf")
BF16 = tf.bfloat16.as_numpy_dtype
FLOATS = [np.float32, np.float64, np.float16, BF16]
INTS = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]
CODES = {3: "INVALID_ARGUMENT", 5: "NOT_FOUND", 9: "FAILED_PRECONDITION", 11: "OUT_OF_RANGE",
         12: "UNIMPLEMENTED"}


def family(function):
    FAMILIES[function.__name__] = function
    return function


def number(x):
    if isinstance(x, (bool, np.bool_)):
        return bool(x)
    if isinstance(x, (int, np.integer)):
        return int(x)
    x32 = np.float32(x) if not isinstance(x, (np.float64, float)) else x
    if np.isnan(x32):
        return "NaN"
    if np.isinf(x32):
        return "Infinity" if x32 > 0 else "-Infinity"
    return float(x) if isinstance(x, (np.float64, float)) else float(str(np.float32(x)))


def tensor_json(array):
    t = tf.convert_to_tensor(array)
    values = t.numpy()
    flat = np.asarray(values).reshape(-1)
    if t.dtype == tf.string:
        flat = [v.decode() for v in flat.tolist()]
    else:
        flat = [number(v) for v in flat]
    return {"dtype": "DT_" + tf.as_dtype(t.dtype).name.upper().replace("FLOAT32", "FLOAT").replace(
        "FLOAT64", "DOUBLE").replace("FLOAT16", "HALF") if t.dtype != tf.bfloat16 else "DT_BFLOAT16",
            "shape": list(t.shape), "values": flat}


def attr_json(value):
    if isinstance(value, tf.DType):
        return tensor_json(tf.zeros([], value) if value != tf.string else tf.constant(""))["dtype"]
    if isinstance(value, type) or isinstance(value, np.dtype):
        return attr_json(tf.as_dtype(value))
    if isinstance(value, (list, tuple)):
        return [attr_json(v) for v in value]
    return value


class Cases:
    def __init__(self, family_name):
        self.family = family_name
        self.lines = []
        self.names = set()

    def name(self, op, note):
        base = f"{op}_{note}" if note else op
        name, n = base, 1
        while name in self.names:
            n += 1
            name = f"{base}_{n}"
        self.names.add(name)
        return name

    def add(self, op, inputs, attrs=None, note="", error=None, variables=None, expect=None,
            code="INVALID_ARGUMENT", **tolerance):
        """inputs: arrays in the op's order (None where a variable stands). expect: the outputs,
        where the op cannot be called from Python, or where TensorFlow's own error is a fault."""
        attrs = attrs or {}
        case = {"name": self.name(op, note), "op": op}
        if attrs:
            case["attrs"] = {k: attr_json(v) for k, v in attrs.items()}
        flat = []
        for value in inputs:
            flat += list(value) if isinstance(value, list) and not np.isscalar(value) and \
                value and hasattr(value[0], "dtype") else [value]
        case["inputs"] = {str(i): tensor_json(v) for i, v in enumerate(flat) if v is not None}
        if variables:
            case["variables"] = {str(i): tensor_json(v) for i, v in variables.items()}
        case.update(tolerance)
        if expect is not None:
            outputs = expect
        else:
            outputs = self.run(op, inputs, attrs, variables, case, error, code)
            if outputs is None:
                return
        if error is not None:
            case["error"] = {"code": code, "contains": error}
        else:
            case["outputs"] = {str(i): tensor_json(v) for i, v in enumerate(outputs)}
        self.lines.append(json.dumps(case, separators=(",", ":")))

    def run(self, op, inputs, attrs, variables, case, error, code):
        function = getattr(raw, op)
        import inspect
        names = [p for p in inspect.signature(function).parameters if p != "name"]
        # Without the type attributes that follow from the inputs.
        handles = {}
        args = []
        for i, value in enumerate(inputs):
            if variables and i in variables:
                initial = tf.convert_to_tensor(variables[i])
                handles[i] = raw.VarHandleOp(dtype=initial.dtype, shape=initial.shape,
                                             shared_name=f"{case['name']}_{i}")
                raw.AssignVariableOp(resource=handles[i], value=initial)
                args.append(handles[i])
            elif isinstance(value, list):
                args.append([tf.constant(v) for v in value])
            else:
                args.append(tf.constant(value) if not isinstance(value, tf.Tensor) else value)
        kwargs = dict(zip(names, args))
        kwargs.update({k: v for k, v in attrs.items() if k in names})
        try:
            result = function(**kwargs)
        except tf.errors.OpError as e:
            message = e.message
            if "Could not find device for node" in message:
                return None  # TensorFlow has no such kernel for the dtype
            if error is None:
                raise SystemExit(f"{case['name']}: {e}")
            if CODES.get(e.error_code) != code:
                raise SystemExit(f"{case['name']}: code {e.error_code}: {message}")
            if error not in message:
                raise SystemExit(f"{case['name']}: {error!r} is not in {message!r}")
            return []
        if error is not None:
            raise SystemExit(f"{case['name']}: no error from TensorFlow, {result}")
        if variables:
            case["after"] = {str(i): tensor_json(raw.ReadVariableOp(
                resource=h, dtype=tf.convert_to_tensor(variables[i]).dtype))
                for i, h in handles.items()}
        if result is None or isinstance(result, tf.Operation):
            return []
        if isinstance(result, tf.Tensor):
            return [result]
        outputs = []
        for r in result:
            outputs += list(r) if isinstance(r, list) else [r]
        return outputs

    def write(self):
        path = ROOT / "tests" / "golden" / "ops" / f"{self.family}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(self.lines) + "\n")
        print(f"{path.relative_to(ROOT)}: {len(self.lines)} cases, {path.stat().st_size} bytes")


RNG = np.random.RandomState(7)


def floats(*shape, dtype=np.float32, low=-3.0, high=3.0):
    return np.round(RNG.uniform(low, high, shape), 3).astype(dtype)


def ints(*shape, dtype=np.int32, low=-9, high=10):
    if np.issubdtype(dtype, np.unsignedinteger):
        low = max(low, 0)
    return RNG.randint(low, high, shape).astype(dtype)


def any_numbers(dtype, *shape):
    if dtype in FLOATS:
        return floats(*shape, dtype=dtype)
    return ints(*shape, dtype=dtype)


SPECIAL = np.array([0.0, -0.0, 1.0, -1.0, NAN, INF, -INF, 1e-30, -1e-30, 3.5, -2.5, 88.0, -90.0,
                    1e20], np.float32)
I32 = np.int32


def i32(*values):
    return np.array(values, np.int32)


@family
def binary(c):
    shapes = [((2, 3), (2, 3)), ((2, 3), (3,)), ((2, 1, 3), (1, 4, 1)), ((), (2, 2)), ((2, 2), ()),
              ((0, 3), (3,)), ((1,), (1,)), ((5,), (5,)), ((3, 1), (1, 70)), ((17,), (17,))]
    arithmetic = ["AddV2", "Sub", "Mul", "Maximum", "Minimum", "SquaredDifference"]
    for op in arithmetic + ["RealDiv", "FloorMod", "Pow", "DivNoNan", "Xdivy"]:
        for a, b in shapes:
            x, y = floats(*a), floats(*b)
            if op == "Pow":
                x = np.abs(x)
            c.add(op, [x, y], note="f32")
        for x, y in [(SPECIAL, SPECIAL[::-1].copy()), (SPECIAL, np.float32(1.5)),
                     (np.float32(-2.0), SPECIAL), (SPECIAL, np.float32(0.0)),
                     (SPECIAL, np.float32(NAN))]:
            c.add(op, [x, y], note="special")
        c.add(op, [floats(2, 3), floats(4)], error="ncompatible shapes: [2,3] vs. [4]", note="bad")
    for op in arithmetic:
        for dtype in [np.float64, np.float16, BF16, np.int32, np.int64, np.int8, np.uint8, np.int16,
                      np.uint16, np.uint32, np.uint64]:
            if op == "SquaredDifference" and dtype not in FLOATS + [np.int32, np.int64]:
                continue
            c.add(op, [any_numbers(dtype, 2, 3), any_numbers(dtype, 3)], note=tf.as_dtype(dtype).name)
    c.add("AddV2", [i32(2**31 - 1, -2**31), i32(1, -1)], note="wraps")
    c.add("Mul", [np.array([200, 100], np.uint8), np.array([2, 3], np.uint8)], note="wraps")
    c.add("Mul", [np.array([60000, 65535], np.uint16), np.array([60000, 65535], np.uint16)],
          note="wraps")
    for op in ["FloorDiv", "FloorMod", "TruncateDiv", "TruncateMod", "Mod", "Div"]:
        for dtype in [np.int32, np.int64, np.int8, np.uint8, np.int16]:
            if op in ("Mod", "TruncateMod") and dtype not in (np.int32, np.int64):
                continue
            if op == "FloorMod" and dtype not in (np.int32, np.int64, np.int8, np.int16, np.uint8):
                continue
            x = np.array([7, -7, 7, -7, 0, 9, 100], np.int64).astype(dtype)
            y = np.array([3, 3, -3, -3, 5, 9, 7], np.int64).astype(dtype)
            y[y == 0] = 1
            c.add(op, [x, y], note=tf.as_dtype(dtype).name)
        # TensorFlow reports an internal error for the Truncate ops; the others say what is wrong.
        expect = [] if op.startswith("Truncate") else None
        c.add(op, [i32(1, 2), i32(1, 0)], error="nteger division by zero", note="zero", expect=expect)
        c.add(op, [i32(5, 6), np.int32(0)], error="nteger division by zero", note="zero_scalar",
              expect=expect)
    for op in ["FloorDiv", "TruncateDiv"]:
        c.add(op, [i32(-2**31 + 1, 5), i32(-1, -1)], note="min")
    c.add("FloorDiv", [floats(2, 3), np.array([0.5, -0.7, 1.1], np.float32)], note="f32")
    c.add("FloorDiv", [SPECIAL, np.float32(-0.5)], note="special")
    c.add("FloorMod", [floats(2, 3, dtype=np.float64), np.array([0.5, -0.7, 1.1])], note="f64")
    c.add("Mod", [floats(2, 3), np.array([0.5, -0.7, 1.1], np.float32)], note="f32")
    c.add("Pow", [ints(2, 3, dtype=np.int64), i32(0, 1, 3).astype(np.int64)], note="i64")
    c.add("Pow", [i32(3, -2, 7), i32(30, 31, 15)], note="wraps")
    c.add("Pow", [i32(1, 2), i32(1, -1)], note="negative",
          error="Integers to negative integer powers are not allowed")
    c.add("Pow", [floats(4, dtype=np.float64), np.array([2.0, -1.0, 0.0, 3.0])], note="f64")
    for op in ["Xlogy", "Xlog1py", "Atan2", "MulNoNan", "DivNoNan", "Xdivy"]:
        c.add(op, [floats(2, 3), np.abs(floats(3))], note="f32")
        c.add(op, [floats(2, 3, dtype=np.float64), np.abs(floats(3, dtype=np.float64))], note="f64")
        c.add(op, [np.array([0, 0, 1, 0, 2], np.float32),
                   np.array([0, NAN, 0, INF, 1], np.float32)], note="zeros")
    for op in ["BitwiseAnd", "BitwiseOr", "BitwiseXor", "LeftShift", "RightShift"]:
        for dtype in [np.int32, np.int64, np.uint8, np.int8]:
            c.add(op, [ints(2, 3, dtype=dtype, high=100), ints(3, dtype=dtype, low=0, high=7)],
                  note=tf.as_dtype(dtype).name)
    c.add("LogicalAnd", [np.array([[True], [False]]), np.array([True, False])])
    c.add("LogicalOr", [np.array([[True], [False]]), np.array([True, False])])
    c.add("LogicalAnd", [np.array(True), np.array([True, False])], note="scalar")
    for n in [1, 2, 3, 5]:
        c.add("AddN", [[floats(2, 3) for _ in range(n)]], note=str(n))
    c.add("AddN", [[ints(4), ints(4), ints(4)]], note="int32")
    c.add("AddN", [[floats(2, 3), floats(3)]], error="must have the same size and shape", note="bad")
    c.add("Add", [floats(3), floats(2, 3)])
    for dtype in (np.float32, np.float64):
        c.add("NextAfter", [np.array([1, 1, 0, -2], dtype), np.array([2, 0, 1, -2], dtype)], rtol=0.0,
              atol=0.0, note=tf.as_dtype(dtype).name)


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
    c.add("ReluGrad", [floats(2, 3), floats(3, 2)], note="bad", error="")


@family
def matmul(c):
    sizes = [(2, 3, 4), (1, 5, 7), (3, 1, 2), (7, 8, 1), (6, 16, 32), (13, 17, 35), (0, 3, 2),
             (2, 0, 3), (2, 3, 0)]
    for m, k, n in sizes:
        for ta, tb in [(False, False), (True, False), (False, True), (True, True)]:
            if m * k * n > 1000 and ta != tb:
                continue
            a = floats(*((k, m) if ta else (m, k)))
            b = floats(*((n, k) if tb else (k, n)))
            c.add("MatMul", [a, b], {"transpose_a": ta, "transpose_b": tb}, note=f"{m}x{k}x{n}",
                  atol=1e-4)
    for dtype in [np.float64, np.float16, BF16, np.int32, np.int64]:
        c.add("MatMul", [any_numbers(dtype, 2, 3), any_numbers(dtype, 3, 4)],
              note=tf.as_dtype(dtype).name)
    c.add("MatMul", [floats(2, 3), floats(4, 5)], note="bad",
          error="Matrix size-incompatible: In[0]: [2,3], In[1]: [4,5]")
    c.add("MatMul", [floats(3), floats(3, 2)], note="bad_rank", error="In[0]")
    for a, b, tx, ty in [((2, 3, 4), (2, 4, 5), False, False), ((2, 3, 4), (2, 5, 4), False, True),
                         ((2, 4, 3), (2, 4, 5), True, False), ((3, 2, 3), (3, 1), False, False),
                         ((2, 1, 3, 4), (5, 4, 2), False, False), ((0, 2, 3), (0, 3, 2), False, False),
                         ((4, 2, 3), (1, 3, 2), False, False)]:
        op = "BatchMatMulV2"
        c.add(op, [floats(*a), floats(*b)], {"adj_x": tx, "adj_y": ty}, note="f32")
    c.add("BatchMatMul", [floats(2, 2, 3), floats(2, 3, 2)])
    c.add("BatchMatMulV2", [ints(2, 2, 3), ints(2, 3, 2)], note="int32")
    c.add("BatchMatMulV2", [floats(2, 2, 3), floats(3, 3, 2)], note="bad", error="")
    c.add("BatchMatMulV2", [floats(2, 2, 3), floats(2, 4, 2)], note="bad_inner", error="")
    for shape in [(2, 3), (2, 2, 3), (0, 3), (4, 33)]:
        c.add("BiasAdd", [floats(*shape), floats(shape[-1])], note="f32")
    c.add("BiasAdd", [floats(2, 3, 4), floats(3)], {"data_format": "NCHW"}, note="nchw")
    c.add("BiasAdd", [ints(2, 3), ints(3)], note="int32")
    c.add("BiasAdd", [floats(2, 3, dtype=np.float16), floats(3, dtype=np.float16)], note="half")
    c.add("BiasAdd", [floats(2, 4), floats(3)], note="bad",
          error="Must provide as many biases as the last dimension of the input tensor: [3] vs. [2,4]")
    c.add("BiasAdd", [floats(4), floats(4)], note="bad_rank", error="Input tensor must be at least 2D")
    for shape in [(2, 3), (5, 2, 3), (33, 40)]:
        c.add("BiasAddGrad", [floats(*shape)], note="f32", atol=1e-4)
    c.add("BiasAddGrad", [floats(2, 3, 4)], {"data_format": "NCHW"}, note="nchw")
    c.add("BiasAddGrad", [floats(6, 3, dtype=np.float64)], note="f64")
    for name, function in [(None, lambda x: x), ("Relu", tf.nn.relu), ("Relu6", tf.nn.relu6),
                           ("Elu", tf.nn.elu), ("Tanh", tf.tanh), ("Sigmoid", tf.sigmoid),
                           ("LeakyRelu", lambda x: tf.nn.leaky_relu(x, 0.3))]:
        for m, k, n in [(1, 5, 9), (7, 12, 35)]:
            a, b, bias = floats(m, k), floats(k, n), floats(n)
            attrs = {"fused_ops": ["BiasAdd"] + ([name] if name else [])}
            if name == "LeakyRelu":
                attrs["leakyrelu_alpha"] = 0.3
            c.add("_FusedMatMul", [a, b, bias], attrs, note=name or "BiasAdd", atol=1e-4,
                  expect=[function(tf.nn.bias_add(tf.matmul(a, b), bias))])


@family
def softmax(c):
    for op in ["Softmax", "LogSoftmax"]:
        for dtype in FLOATS:
            c.add(op, [floats(3, 10, dtype=dtype)], note=tf.as_dtype(dtype).name)
        c.add(op, [floats(7)], note="vector")
        c.add(op, [floats(2, 3, 5)], note="rank3")
        c.add(op, [floats(0, 5)], note="empty")
        c.add(op, [floats(2, 300)], note="wide")
        c.add(op, [np.array([[1000.0, 0, -1000], [NAN, 1, 2], [-INF, 0, 1]], np.float32)],
              note="special")
        c.add(op, [np.float32(1)], note="scalar", error="logits must have >= 1 dimension")
    op = "SoftmaxCrossEntropyWithLogits"
    for dtype in FLOATS:
        labels = tf.nn.softmax(floats(4, 6)).numpy().astype(dtype)
        c.add(op, [floats(4, 6, dtype=dtype), labels], note=tf.as_dtype(dtype).name)
    one_hot = np.eye(5, dtype=np.float32)[[0, 3, 4]]
    c.add(op, [floats(3, 5), one_hot], note="onehot")
    c.add(op, [floats(3, 5), one_hot[:1]], note="bcast_labels")
    c.add(op, [floats(1, 5), one_hot], note="bcast_logits")
    c.add(op, [floats(0, 5), floats(0, 5)], note="empty")
    c.add(op, [floats(3, 5), floats(3, 4)], note="bad", error="logits and labels must be broadcastable")
    c.add(op, [floats(5), floats(5)], note="bad_rank", error="")
    op = "SparseSoftmaxCrossEntropyWithLogits"
    for dtype in FLOATS:
        c.add(op, [floats(4, 6, dtype=dtype), i32(0, 5, 2, 3)], note=tf.as_dtype(dtype).name)
    c.add(op, [floats(4, 6), i32(0, 5, 2, 3).astype(np.int64)], note="int64")
    c.add(op, [floats(40, 10, low=-20, high=20), ints(40, low=0, high=10)], note="many")
    c.add(op, [floats(0, 6), np.zeros(0, np.int32)], note="empty")
    c.add(op, [floats(2, 6), i32(0, 6)], note="label",
          error="Received a label value of 6 which is outside the valid range of [0, 6)")
    c.add(op, [floats(2, 6), i32(0, -1)], note="negative", error="Received a label value of -1")
    c.add(op, [floats(2, 6), i32(0)], note="rows", error="must have the same first dimension")
    c.add(op, [floats(6), i32(0)], note="rank", error="logits must be 2-D, but got shape [6]")


@family
def compare(c):
    for op in ["Less", "LessEqual", "Greater", "GreaterEqual", "Equal", "NotEqual"]:
        x = np.array([1, 2, 3, NAN, INF, -0.0], np.float32)
        c.add(op, [x, np.array([1, 3, 2, NAN, INF, 0.0], np.float32)], note="f32")
        c.add(op, [floats(2, 1), floats(3)], note="bcast")
        for dtype in [np.float64, np.float16, BF16, np.int32, np.int64, np.uint8, np.int8]:
            c.add(op, [any_numbers(dtype, 6), any_numbers(dtype, 6)], note=tf.as_dtype(dtype).name)
        c.add(op, [ints(6, low=0, high=3), ints(6, low=0, high=3)], note="ties")
        c.add(op, [floats(0), floats(1)], note="empty")
        c.add(op, [floats(2, 3), floats(4)], note="bad", error="ncompatible shapes: [2,3] vs. [4]")
    for op in ["Equal", "NotEqual"]:
        c.add(op, [np.array(["a", "b"]), np.array(["a", "c"])], note="string")
        c.add(op, [np.array(["a", "b"]), np.array("b")], note="string_scalar")
        c.add(op, [np.array([True, False]), np.array([True, True])], note="bool")
        c.add(op, [floats(2), floats(3)], {"incompatible_shape_error": False}, note="lenient")
        c.add(op, [floats(2), floats(2)], {"incompatible_shape_error": False}, note="lenient_fits")
    c.add("ApproximateEqual", [np.array([1, 2, 3], np.float32), np.array([1.005, 2.5, 3], np.float32)],
          {"tolerance": 0.01})
    cond = np.array([True, False, True])
    for dtype in [np.float32, np.float64, np.int64, np.uint8, np.float16]:
        c.add("SelectV2", [cond, any_numbers(dtype, 2, 3), any_numbers(dtype, 3)],
              note=tf.as_dtype(dtype).name)
        c.add("Select", [cond, any_numbers(dtype, 3, 2), any_numbers(dtype, 3, 2)],
              note=tf.as_dtype(dtype).name)
    c.add("SelectV2", [np.array(True), floats(2, 3), np.float32(0)], note="scalar")
    c.add("SelectV2", [np.array(False), floats(2, 3), np.float32(0)], note="scalar_false")
    c.add("SelectV2", [cond, np.array(["a", "b", "c"]), np.array("z")], note="string")
    c.add("SelectV2", [cond.reshape(3, 1), floats(1, 4), floats(3, 1)], note="bcast")
    c.add("SelectV2", [np.array([True, False]), floats(3), floats(3)], note="bad", error="")
    c.add("Select", [np.array(True), np.array("yes"), np.array("no")], note="string")
    c.add("Select", [np.array(True), floats(2, 3), floats(2, 3)], note="scalar")
    c.add("Select", [np.array([[True, False]]), floats(1, 2), floats(1, 2)], note="same")
    c.add("Select", [np.array([True, False]), floats(3, 2), floats(3, 2)], note="bad", error="")
    c.add("Select", [np.array(True), floats(3, 2), floats(2)], note="bad_else", error="")
    c.add("ClipByValue", [floats(5), np.float32(-1), np.float32(1)])
    c.add("ClipByValue", [ints(5), np.int32(-2), np.int32(3)], note="int32")
    c.add("ClipByValue", [floats(3), floats(3, low=-2, high=-1), floats(3, low=0, high=1)], note="each")


@family
def reduce(c):
    shapes_axes = [((2, 3), [0]), ((2, 3), [1]), ((2, 3), [0, 1]), ((2, 3), [-1]), ((2, 3, 4), [1]),
                   ((2, 3, 4), [0, 2]), ((2, 3), []), ((0, 3), [0]), ((0, 3), [1]), ((5,), [0]),
                   ((), []), ((3, 40), [1]), ((40, 3), [0]), ((2, 3, 4, 2), [1, 3])]
    for op in ["Sum", "Mean", "Prod", "Max", "Min", "EuclideanNorm"]:
        for shape, axes in shapes_axes:
            c.add(op, [floats(*shape), np.array(axes, np.int32)], note="f32", atol=1e-5)
        c.add(op, [floats(2, 3), np.array([1], np.int64)], {"keep_dims": True}, note="keep")
        c.add(op, [floats(2, 3), np.int32(0)], {"keep_dims": True}, note="scalar_axis")
        for dtype in [np.float64, np.float16, BF16, np.int32, np.int64]:
            c.add(op, [any_numbers(dtype, 3, 5), i32(1)], note=tf.as_dtype(dtype).name)
        c.add(op, [floats(2, 3), i32(2)], note="bad",
              error="Invalid reduction dimension (2 for input with 2 dimension(s)")
        c.add(op, [floats(2, 3), i32(0, 0)], note="twice",
              error="Axes contains duplicate dimension: 0")
        c.add(op, [np.array([[1, NAN, 3], [INF, 1, -INF], [INF, 2, 3]], np.float32), i32(1)],
              note="special")
    for op in ["Max", "Min", "Sum"]:
        c.add(op, [np.array([1.0] * 20 + [NAN] + [2.0] * 13, np.float32), i32(0)], note="nan_in_row")
        c.add(op, [np.array([[1, NAN], [NAN, 2], [3, 4]], np.float32), i32(0)], note="nan_in_col")
    for dtype in [np.int8, np.uint8, np.int16]:
        c.add("Sum", [any_numbers(dtype, 3, 5), i32(0)], note=tf.as_dtype(dtype).name)
        c.add("Max", [any_numbers(dtype, 3, 5), i32(0)], note=tf.as_dtype(dtype).name)
    c.add("Max", [np.zeros((0, 2), np.int32), i32(0)], note="empty_int")
    for op in ["All", "Any"]:
        x = np.array([[True, False, True], [True, True, True]])
        for axes in ([0], [1], [0, 1], []):
            c.add(op, [x, np.array(axes, np.int32)])
        c.add(op, [np.zeros((0, 2), bool), i32(0)], {"keep_dims": True}, note="empty")
    for dtype in FLOATS:
        c.add("L2Loss", [floats(3, 5, dtype=dtype)], note=tf.as_dtype(dtype).name)
    for op in ["ArgMax", "ArgMin"]:
        for dtype in [np.float32, np.float64, np.float16, np.int32, np.uint8, np.int64]:
            c.add(op, [any_numbers(dtype, 3, 5), np.int32(1)], note=tf.as_dtype(dtype).name)
        c.add(op, [floats(2, 3, 4), np.int32(0)], note="first")
        c.add(op, [floats(2, 3, 4), np.int32(-2)], {"output_type": tf.int32}, note="middle")
        c.add(op, [np.array([[NAN, 1, 2], [1, NAN, 0], [NAN, NAN, NAN], [2, 2, 1], [INF, INF, NAN],
                             [-INF, -INF, NAN]], np.float32), np.int32(1)], note="nan")
        c.add(op, [floats(0, 2), np.int32(1)], note="empty")
        c.add(op, [floats(0, 2), np.int32(0)], note="empty_axis", error="is empty in shape [0,2]")
        c.add(op, [floats(2, 2), np.int32(2)], note="bad", error="in the range [-2, 2), but got 2")
    for op in ["Cumsum", "Cumprod"]:
        for axis in (0, 1, -1):
            for exclusive in (False, True):
                for reverse in (False, True):
                    c.add(op, [floats(3, 4), np.int32(axis)],
                          {"exclusive": exclusive, "reverse": reverse}, note="f32")
        c.add(op, [ints(5), np.int32(0)], note="int32")
        c.add(op, [floats(2), np.int32(1)], note="bad", error="")
    c.add("TopKV2", [np.array([[1, 5, 5, 2], [3, 3, 3, 0]], np.float32), np.int32(3)])
    c.add("TopKV2", [ints(10), np.int32(10)], note="all")
    c.add("TopKV2", [floats(2, 3), np.int32(0)], note="none")
    c.add("TopKV2", [floats(2, 3), np.int32(4)], note="bad",
          error="input must have at least k columns. Had 3, needed 4")
    x = floats(2, 5)
    c.add("TopK", [x], {"k": 2}, expect=list(tf.math.top_k(x, 2)))
    p = np.array([[0.1, 0.3, 0.6], [0.5, 0.2, 0.3], [0.4, 0.4, 0.2], [NAN, 0.1, 0.2]], np.float32)
    c.add("InTopKV2", [p, i32(2, 1, 0, 1), np.int32(1)])
    c.add("InTopKV2", [p, i32(1, 2, 7, 1), np.int32(2)], note="two")
    c.add("InTopK", [p, i32(1, 2, 1, 1)], {"k": 1})


@family
def shapes(c):
    for shape in [(), (3,), (2, 0, 4), (2, 3, 4, 5, 1, 1, 1)]:
        c.add("Shape", [np.zeros(shape, np.float32)])
        c.add("Size", [np.zeros(shape, np.float32)])
        c.add("Rank", [np.zeros(shape, np.float32)])
    c.add("Shape", [floats(2, 3)], {"out_type": tf.int64}, note="int64")
    c.add("Size", [floats(2, 3)], {"out_type": tf.int64}, note="int64")
    c.add("ShapeN", [[floats(2, 3), floats(4)]])
    c.add("Shape", [np.array(["a", "b"])], note="string")
    for shape in [(6,), (3, 2), (-1,), (2, -1), (1, 6, 1)]:
        c.add("Reshape", [floats(2, 3), np.array(shape, np.int32)])
    c.add("Reshape", [floats(1), np.zeros(0, np.int32)], note="to_scalar")
    c.add("Reshape", [floats(0, 3), i32(3, 0)], note="empty")
    c.add("Reshape", [floats(0, 3), i32(3, -1)], note="empty_infer")
    c.add("Reshape", [np.array(["a", "b"]), i32(2, 1)], note="string")
    c.add("Reshape", [floats(2, 3), i32(2, 2)], note="bad",
          error="Input to reshape is a tensor with 6 values, but the requested shape has 4")
    c.add("Reshape", [floats(2, 3), i32(-1, -1)], note="two",
          error="Only one input size may be -1, not both 0 and 1")
    c.add("Reshape", [floats(2, 3), i32(4, -1)], note="multiple",
          error="but the requested shape requires a multiple of 4")
    c.add("Reshape", [floats(2, 3), i32(-2, 3)], note="negative", error="Size 0 must be non-negative, not -2")
    c.add("Reshape", [floats(0, 3), i32(0, -1)], note="infer_beside_zero")
    c.add("Reshape", [floats(4, 0, 6), i32(0, -1, 8)], note="infer_beside_zero")
    for axis in (0, 1, 2, -1, -3):
        c.add("ExpandDims", [floats(2, 3), np.int32(axis)])
    c.add("ExpandDims", [floats(2, 3), np.int32(3)], note="bad", error="")
    c.add("Squeeze", [floats(1, 2, 1)])
    x = floats(1, 2, 1)  # the Python function has another name for the attribute
    c.add("Squeeze", [x], {"squeeze_dims": [0]}, note="first", expect=[tf.squeeze(x, [0])])
    c.add("Squeeze", [x], {"squeeze_dims": [-1]}, note="last", expect=[tf.squeeze(x, [-1])])
    c.add("Squeeze", [x], {"squeeze_dims": [1]}, note="bad", expect=[],
          error="Can not squeeze dim[1], expected a dimension of 1, got 2")
    for perm in [(1, 0), (0, 1)]:
        c.add("Transpose", [floats(3, 5), np.array(perm, np.int32)])
    for perm in [(2, 0, 1), (0, 2, 1), (2, 1, 0), (1, 0, 2)]:
        c.add("Transpose", [floats(3, 4, 5), np.array(perm, np.int32)])
    for dtype in [np.int8, np.float16, np.float64, np.int64]:
        c.add("Transpose", [any_numbers(dtype, 20, 18), i32(1, 0)], note=tf.as_dtype(dtype).name)
    c.add("Transpose", [np.array([["a", "b"], ["c", "d"], ["e", "f"]]), i32(1, 0)], note="string")
    c.add("Transpose", [floats(0, 3), i32(1, 0)], note="empty")
    c.add("Transpose", [floats(2, 3), i32(0, 0)], note="twice", error="")
    c.add("Transpose", [floats(2, 3), i32(0, 2)], note="range", error="2 is out of range [0 .. 2)")
    c.add("Transpose", [floats(2, 3), i32(0)], note="size", error="transpose expects a vector of size 2")
    c.add("InvertPermutation", [i32(2, 0, 1)])
    c.add("InvertPermutation", [i32(2, 0, 0)], note="twice", error="0 is duplicated in the input.")
    c.add("InvertPermutation", [i32(3, 0, 1)], note="range", error="3 is not between 0 and 3")
    for value in [np.float32(2.5), np.int64(7), np.array(True), np.array("x"), np.float16(1.5)]:
        c.add("Fill", [i32(2, 3), value], note=tf.convert_to_tensor(value).dtype.name)
    c.add("Fill", [np.zeros(0, np.int32), np.float32(1)], note="scalar")
    c.add("Fill", [i32(2, -1), np.float32(1)], note="negative", error="")
    c.add("Fill", [i32(2), floats(2)], note="bad", error="value must represent a scalar")
    for x in [floats(2, 3), ints(3), np.array([True]), floats(2, dtype=np.float16)]:
        c.add("ZerosLike", [x])
        c.add("OnesLike", [x])
    c.add("ZerosLike", [np.array(["a"])], note="string")
    for a in [(0, 5, 1), (5, 0, -2), (3, 3, 1), (0, 10, 3), (-4, 4, 3)]:
        c.add("Range", [np.int32(v) for v in a], note="int32")
        c.add("Range", [np.int64(v) for v in a], note="int64")
    for a in [(0, 1, 0.1), (1, 0, -0.25), (0.5, 0.5, 1), (0, 3.3, 1.1)]:
        c.add("Range", [np.float32(v) for v in a], note="f32")
        c.add("Range", [np.float64(v) for v in a], note="f64")
    c.add("Range", [np.int32(0), np.int32(5), np.int32(0)], note="zero", error="Requires delta != 0")
    c.add("Range", [np.int32(5), np.int32(0), np.int32(1)], note="bad",
          error="Requires start <= limit when delta > 0: 5/0")
    c.add("Range", [np.int32(0), np.int32(5), np.int32(-1)], note="bad_down",
          error="Requires start >= limit when delta < 0: 0/5")
    for n in (1, 2, 5):
        c.add("LinSpace", [np.float32(-1), np.float32(2), np.int32(n)])
    c.add("LinSpace", [np.float32(-1), np.float32(2), np.int32(0)], note="bad", error="Requires num > 0: 0")
    for x, shape in [((3,), (2, 3)), ((2, 1), (2, 4)), ((), (3,)), ((1, 3), (0, 3)), ((2, 3), (2, 3)),
                     ((2, 1, 3), (4, 2, 5, 3))]:
        c.add("BroadcastTo", [floats(*x), np.array(shape, np.int32)])
    c.add("BroadcastTo", [floats(2), i32(3)], note="bad", error="")
    pairs = [((2, 3), (3,)), ((), (2,)), ((2, 1), (1, 3)), ((2, 3), (2, 3)), ((1, 3), (1, 3)),
             ((1, 1), (1,)), ((4, 1, 1), (1, 5)), ((1,), (1,)), ((), ())]
    for a, b in pairs:
        c.add("BroadcastArgs", [np.array(a, np.int32), np.array(b, np.int32)])
        c.add("BroadcastGradientArgs", [np.array(a, np.int32), np.array(b, np.int32)])
    c.add("BroadcastArgs", [i32(2, 3), i32(4)], note="bad", error="")
    c.add("BroadcastGradientArgs", [i32(2, 3), i32(4)], note="bad", error="")
    for x in [np.array([[True, False], [True, True]]), np.array([0.0, 1, NAN], np.float32), ints(6)]:
        c.add("Where", [x])


@family
def slices(c):
    for begin, size in [((0, 0), (2, 3)), ((1, 1), (1, 2)), ((0, 1), (-1, -1)), ((1, 3), (1, 0))]:
        c.add("Slice", [floats(2, 3), np.array(begin, np.int32), np.array(size, np.int32)])
    c.add("Slice", [np.array(["a", "b", "c"]), i32(1), i32(2)], note="string")
    c.add("Slice", [floats(3), i32(4), i32(0)], note="begin", error="Expected begin[0] in [0, 3], but got 4")
    c.add("Slice", [floats(3), i32(1), i32(3)], note="size", error="Expected size[0] in [0, 2], but got 3")
    c.add("Slice", [floats(3), i32(1), i32(-2)], note="negative", error="")
    c.add("Slice", [floats(3), i32(1, 1), i32(1, 1)], note="rank", error="")
    x = floats(4, 5, 3)
    specs = [([1], [3], [1], {}), ([0, 0], [4, 5], [2, 2], {}), ([3, 4], [0, 0], [-1, -2], {}),
             ([-1], [0], [1], {"shrink_axis_mask": 1}), ([0, 1], [0, 2], [1, 1], {"ellipsis_mask": 1}),
             ([0, 1], [0, 2], [1, 1], {"ellipsis_mask": 1, "shrink_axis_mask": 2}),
             ([0, 0, 1], [0, 0, 3], [1, 1, 1], {"new_axis_mask": 1, "begin_mask": 2, "end_mask": 2}),
             ([2, 1], [0, 0], [-1, 2], {"begin_mask": 1, "end_mask": 3}),
             ([0, 0, 0], [0, 0, 0], [1, 1, 1], {"begin_mask": 7, "end_mask": 7, "new_axis_mask": 4}),
             ([10], [20], [1], {}), ([-100], [100], [3], {}), ([1, 2, 0], [2, 3, 1], [1, 1, 1],
                                                               {"shrink_axis_mask": 7}),
             ([0, 0, 0, 2], [0, 0, 0, 3], [1, 1, 1, 1], {"ellipsis_mask": 2, "new_axis_mask": 4,
                                                          "shrink_axis_mask": 8, "end_mask": 1}),
             ([], [], [], {}), ([3], [0], [1], {}), ([0], [4], [100], {})]
    for begin, end, stride, masks in specs:
        args = [np.array(v, np.int32) for v in (begin, end, stride)]
        c.add("StridedSlice", [x] + args, masks)
        dy = raw.StridedSlice(input=x, begin=args[0], end=args[1], strides=args[2], **masks).numpy()
        c.add("StridedSliceGrad", [i32(4, 5, 3)] + args + [dy], masks)
    c.add("StridedSlice", [i32(7, 8, 9), i32(1), i32(2), i32(1)], {"shrink_axis_mask": 1}, note="shape")
    c.add("StridedSlice", [np.array(["a", "b", "c"]), i32(-1), i32(-4), i32(-1)], note="string")
    c.add("StridedSlice", [x, i32(4), i32(5), i32(1)], {"shrink_axis_mask": 1}, note="range",
          error="slice index 4 of dimension 0 out of bounds.")
    c.add("StridedSlice", [x, i32(0), i32(1), i32(0)], note="zero", error="strides[0] must be non-zero")
    c.add("StridedSlice", [x, i32(0, 0), i32(1), i32(1)], note="sizes", error="")
    c.add("StridedSlice", [x, i32(0, 0, 0, 0), i32(1, 1, 1, 1), i32(1, 1, 1, 1)], note="dims",
          error="Index out of range using input dim 3; input has only 3 dims")
    c.add("StridedSlice", [x, i32(0, 0), i32(1, 1), i32(1, 1)], {"ellipsis_mask": 3}, note="ellipses",
          error="Multiple ellipses in slice spec not allowed")
    c.add("StridedSliceGrad", [i32(4), i32(0), i32(2), i32(1), floats(3)], note="bad", error="")
    for x, paddings in [((3,), [[1, 2]]), ((2, 3), [[0, 0], [1, 1]]), ((2, 3), [[2, 1], [0, 3]]),
                        ((0, 2), [[1, 1], [0, 0]]), ((2, 2, 2), [[1, 0], [0, 1], [1, 1]])]:
        c.add("Pad", [floats(*x), np.array(paddings, np.int32)])
        c.add("PadV2", [floats(*x), np.array(paddings, np.int32), np.float32(9)])
    c.add("Pad", [ints(2, 2, dtype=np.int64), np.array([[1, 0], [0, 1]], np.int64)], note="int64")
    c.add("PadV2", [np.array([True, False]), np.array([[1, 1]], np.int32), np.array(True)], note="bool")
    c.add("Pad", [floats(2), np.array([[-1, 2]], np.int32)], note="negative", error="")
    c.add("Pad", [floats(2), np.array([[1, 2], [1, 2]], np.int32)], note="rows", error="")
    for mode in ("REFLECT", "SYMMETRIC"):
        c.add("MirrorPad", [floats(4), np.array([[2, 1]], np.int32)], {"mode": mode})
        c.add("MirrorPad", [floats(3, 4), np.array([[2, 1], [1, 2]], np.int32)], {"mode": mode})
        c.add("MirrorPad", [floats(2), np.array([[3, 0]], np.int32)], {"mode": mode}, note="bad", error="")
    for x, m in [((3,), [2]), ((2, 3), [2, 1]), ((2, 3), [1, 3]), ((2, 3), [3, 2]), ((2,), [0]), ((), [])]:
        c.add("Tile", [floats(*x), np.array(m, np.int32)])
    c.add("Tile", [np.array(["a", "b"]), i32(2)], note="string")
    c.add("Tile", [floats(2, 3), i32(2)], note="bad", error="")
    c.add("Tile", [floats(2), i32(-1)], note="negative", error="Expected multiples[0] >= 0, but got -1")
    for x, axes in [((4,), [0]), ((2, 3), [1]), ((2, 3), [0, 1]), ((2, 3), []), ((2, 3, 2), [-2])]:
        c.add("ReverseV2", [floats(*x), np.array(axes, np.int32)])
    c.add("ReverseV2", [floats(2), i32(1)], note="bad", error="")
    c.add("ReverseV2", [floats(2), i32(0, -1)], note="twice", error="axis 0 specified more than once.")


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


@family
def cast(c):
    types = [np.float32, np.float64, np.float16, BF16, np.int8, np.int16, np.int32, np.int64, np.uint8,
             np.uint16, np.uint32, np.uint64, np.bool_]
    for source in types:
        if source == np.bool_:
            x = np.array([True, False])
        elif source in FLOATS:
            x = np.array([0, -0.0, 1.5, -1.5, 2.5, 100.75, 3.999], np.float64).astype(source)
        else:
            x = np.array([0, 1, 100, 120, -1 if np.issubdtype(source, np.signedinteger) else 3],
                         np.int64).astype(source)
        for target in types:
            # Negative floats to unsigned are undefined in C++ and differ between machines.
            value = np.abs(x) if source in FLOATS and np.issubdtype(target, np.unsignedinteger) else x
            c.add("Cast", [value], {"DstT": tf.as_dtype(target)},
                  note=f"{tf.as_dtype(source).name}_to_{tf.as_dtype(target).name}")
    huge = np.array([NAN, INF, -INF, 1e20, -1e20, 2147483648.0, -2147483649.0], np.float64)
    for source in (np.float32, np.float64):
        for target in (np.int32, np.int64):
            c.add("Cast", [huge.astype(source)], {"DstT": tf.as_dtype(target)}, note="huge")
    c.add("Cast", [np.array([NAN, 0.1, -0.0], np.float32)], {"DstT": tf.bool}, note="nan")
    c.add("Cast", [np.array([300, -200, 70000], np.int32)], {"DstT": tf.int8}, note="narrow")
    c.add("Cast", [np.array([1e6, 65519, 65520, 1e-8], np.float32)], {"DstT": tf.half}, note="half")
    c.add("Cast", [np.array([2**63, 2**64 - 1], np.uint64)], {"DstT": tf.float32}, note="u64")
    c.add("Cast", [floats(0, 2)], {"DstT": tf.int32}, note="empty")
    c.add("Bitcast", [np.array([1.0, -2.0], np.float32)], {"type": tf.int32})
    c.add("Bitcast", [np.array([1.0, -2.0], np.float32)], {"type": tf.uint8}, note="smaller")
    c.add("Bitcast", [np.arange(8, dtype=np.uint8).reshape(2, 4)], {"type": tf.int32}, note="larger")
    c.add("Bitcast", [np.arange(6, dtype=np.uint8).reshape(2, 3)], {"type": tf.int32}, note="bad", error="")


@family
def random(c):
    exact = {"rtol": 0.0, "atol": 0.0}
    near = {"rtol": 1e-5, "atol": 1e-6}
    for op in ["StatelessRandomUniform", "StatelessRandomNormal", "StatelessTruncatedNormal"]:
        tolerance = exact if "Uniform" in op else near
        for dtype in (tf.float32, tf.float64, tf.half, tf.bfloat16):
            if dtype in (tf.half, tf.bfloat16) and "Uniform" not in op:
                tolerance = {"rtol": 1e-2, "atol": 1e-3}
            for shape in ([13], [2, 3], []):
                c.add(op, [np.array(shape, np.int32), np.array([5, -7], np.int64)], {"dtype": dtype},
                      note=dtype.name, **tolerance)
        c.add(op, [i32(0), i32(1, 2)], {"dtype": tf.float32}, note="empty")
        c.add(op, [i32(9), i32(1, 2)], {"dtype": tf.float32}, note="int32_seed",
              **(exact if "Uniform" in op else near))
        c.add(op, [i32(2), i32(1, 2, 3)], {"dtype": tf.float32}, note="bad", error="seed must have shape [2]")
        c.add(op, [i32(-2), i32(1, 2)], {"dtype": tf.float32}, note="bad_shape", error="")
    for dtype in (np.int32, np.int64):
        c.add("StatelessRandomUniformInt", [i32(11), i32(3, 4), dtype(-5), dtype(100)],
              {"dtype": tf.as_dtype(dtype)}, note=tf.as_dtype(dtype).name)
    c.add("StatelessRandomUniformInt", [i32(2), i32(3, 4), np.int32(5), np.int32(5)],
          {"dtype": tf.int32}, note="bad", error="Need minval < maxval, got 5 >= 5")
    for dtype in (tf.int32, tf.int64, tf.uint32, tf.uint64):
        c.add("StatelessRandomUniformFullInt", [i32(7), i32(3, 4)], {"dtype": dtype}, note=dtype.name)
    c.add("StatelessRandomGetKeyCounter", [np.array([11, 12], np.int64)])
    c.add("StatelessRandomGetKeyCounter", [i32(-11, 12)], note="int32")
    c.add("StatelessRandomGetKeyCounterAlg", [i32(1, 2)])
    key, counter = np.array([0x123456789ABCDEF], np.uint64), np.array([0xFFFFFFFFFFFFFFFE, 3], np.uint64)
    for op in ["StatelessRandomUniformV2", "StatelessRandomNormalV2", "StatelessTruncatedNormalV2"]:
        c.add(op, [i32(21), key, counter, np.int32(1)], {"dtype": tf.float32},
              **(exact if "Uniform" in op else near))
    c.add("StatelessRandomUniformV2", [i32(21), key, counter, np.int32(3)], {"dtype": tf.float32},
          note="auto", **exact)
    c.add("StatelessRandomUniformFullIntV2", [i32(5), key, counter, np.int32(1)], {"dtype": tf.uint64})
    c.add("StatelessRandomUniformIntV2", [i32(5), key, counter, np.int32(1), np.int64(-3), np.int64(9)],
          {"dtype": tf.int64})
    seed = 100
    for op in ["RandomUniform", "RandomStandardNormal", "TruncatedNormal"]:
        for dtype in (tf.float32, tf.float64):
            seed += 1
            c.add(op, [i32(4, 4)], {"seed": seed, "seed2": seed * 7, "dtype": dtype}, note=dtype.name,
                  **(exact if "Uniform" in op else near))
    for dtype in (np.int32, np.int64):
        seed += 1
        c.add("RandomUniformInt", [i32(9), dtype(-4), dtype(50)], {"seed": seed, "seed2": 2},
              note=tf.as_dtype(dtype).name)
    c.add("RandomShuffle", [np.arange(13, dtype=np.int32)], {"seed": 5, "seed2": 6})
    c.add("RandomShuffle", [np.arange(12, dtype=np.float32).reshape(6, 2)], {"seed": 7, "seed2": 6}, note="rows")


@family
def variables(c):
    for dtype in (np.float32, np.int64, np.float16):
        x = any_numbers(dtype, 2, 3)
        for op in ["AssignAddVariableOp", "AssignSubVariableOp", "AssignVariableOp"]:
            c.add(op, [None, any_numbers(dtype, 2, 3)], variables={0: x}, note=tf.as_dtype(dtype).name)
        c.add("ReadVariableOp", [None], {"dtype": tf.as_dtype(dtype)}, variables={0: x},
              note=tf.as_dtype(dtype).name)
        c.add("VariableShape", [None], variables={0: x}, note=tf.as_dtype(dtype).name)
        c.add("ResourceGather", [None, i32(1, 0, 1)], {"dtype": tf.as_dtype(dtype)}, variables={0: x},
              note=tf.as_dtype(dtype).name)
        c.add("ResourceScatterAdd", [None, i32(1, 1), any_numbers(dtype, 2, 3)], variables={0: x},
              note=tf.as_dtype(dtype).name)
        c.add("ResourceScatterUpdate", [None, i32(1), any_numbers(dtype, 1, 3)], variables={0: x},
              note=tf.as_dtype(dtype).name)
    c.add("VarIsInitializedOp", [None], variables={0: floats(2)})
    c.add("AssignAddVariableOp", [None, floats(3)], variables={0: floats(2)}, note="bad", error="")
    c.add("AssignVariableOp", [None, floats(3)], {"dtype": tf.float32, "validate_shape": True},
          variables={0: floats(2)}, note="bad", error="")
    c.add("ReadVariableOp", [None], {"dtype": tf.int32}, variables={0: floats(2)}, note="bad", error="")
    c.add("ResourceGather", [None, i32(2)], {"dtype": tf.float32}, variables={0: floats(2)}, note="range",
          error="indices[0] = 2 is not in [0, 2)")
    c.add("ResourceScatterAdd", [None, i32(2), floats(1)], variables={0: floats(2)}, note="range", error="")
    c.add("ResourceScatterAdd", [None, i32(0, 1), np.float32(2)], variables={0: floats(2)}, note="scalar")


@family
def optimizers(c):
    for dtype in (np.float32, np.float64):
        name = tf.as_dtype(dtype).name
        s = dtype

        def v():
            return floats(3, 7, dtype=dtype)

        def positive():
            return floats(3, 7, dtype=dtype, low=0.1, high=2)

        c.add("ResourceApplyGradientDescent", [None, s(0.1), v()], variables={0: v()}, note=name)
        for nesterov in (False, True):
            for op in ["ResourceApplyMomentum", "ResourceApplyKerasMomentum"]:
                c.add(op, [None, None, s(0.1), v(), s(0.9)], {"use_nesterov": nesterov},
                      variables={0: v(), 1: v()}, note=name)
            c.add("ResourceApplyAdam",
                  [None, None, None, s(0.81), s(0.998), s(0.01), s(0.9), s(0.999), s(1e-7), v()],
                  {"use_nesterov": nesterov}, variables={0: v(), 1: v(), 2: positive()}, note=name)
        for update in (True, False):
            c.add("ResourceApplyAdagradV2", [None, None, s(0.1), s(1e-7), v()], {"update_slots": update},
                  variables={0: v(), 1: positive()}, note=name)
        c.add("ResourceApplyRMSProp", [None, None, None, s(0.1), s(0.9), s(0.5), s(1e-7), v()],
              variables={0: v(), 1: positive(), 2: v()}, note=name)
    c.add("ResourceApplyGradientDescent", [None, np.float32(0.1), floats(3)], variables={0: floats(2)},
          note="bad", error="do not have the same shape")
    c.add("ResourceApplyGradientDescent", [None, floats(2), floats(2)], variables={0: floats(2)},
          note="scalar", error="alpha")


@family
def strings(c):
    c.add("StringJoin", [[np.array("a"), np.array("b"), np.array("c")]], {"separator": "/"})
    c.add("StringJoin", [[np.array(["a", "b"]), np.array("x")]], note="scalar")
    c.add("StringJoin", [[np.array(["a", "b"]), np.array(["x"])]], note="bad", error="Input shapes do not match")
    c.add("StaticRegexFullMatch", [np.array(["s3://x", "gs://y", "s3:/"])], {"pattern": "^s3://.*"})
    c.add("StaticRegexFullMatch", [np.array("a")], {"pattern": "("}, note="bad", error="")
    c.add("RegexFullMatch", [np.array(["abc", "abd"]), np.array("ab[c]")])
    c.add("StaticRegexReplace", [np.array(["aabb", "xay"])], {"pattern": "a", "rewrite": "<\\0>"})
    c.add("StaticRegexReplace", [np.array(["aabb"])],
          {"pattern": "(a)(b)", "rewrite": "\\2\\1", "replace_global": False}, note="once")
    for x in [ints(4), ints(3, dtype=np.int64), np.array([1.5, -2, 1e20, NAN, INF, 0.1], np.float32),
              np.array([1.5, 1e20], np.float64), np.array([True, False]), ints(3, dtype=np.uint8),
              np.array([1.5], np.float16), np.array([2**64 - 1], np.uint64)]:
        c.add("AsString", [x])
    c.add("AsString", [np.array([1.23456789, 12], np.float32)], {"precision": 2}, note="precision")
    c.add("AsString", [np.array([1.23456789, 1e10], np.float32)], {"scientific": True}, note="scientific")
    c.add("AsString", [np.array([1.23456789, 1e10], np.float32)], {"shortest": True}, note="shortest")
    c.add("AsString", [ints(3)], {"width": 6, "fill": "0"}, note="fill")
    c.add("AsString", [ints(3)], {"width": 6}, note="width")
    c.add("AsString", [ints(3)], {"precision": 2}, note="bad", error="")
    c.add("StringLength", [np.array(["", "abc", "h\u00e9"])])
    c.add("StringLength", [np.array(["", "abc", "h\u00e9"])], {"unit": "UTF8_CHAR"}, note="utf8")
    c.add("StringLower", [np.array(["AbC", "x1Y"])])
    c.add("StringUpper", [np.array(["AbC", "x1Y"])])
    c.add("StringStrip", [np.array(["  a b ", "\tc\n", ""])])
    for x in [floats(3), ints(7), ints(5, 2), np.array(["a", "b"]), np.int32(4), np.array([True, False]),
              floats(2, 2, 2)]:
        c.add("StringFormat", [[x]], {"template": "x = %s.", "placeholder": "%s", "summarize": 2})
    c.add("StringFormat", [[ints(9)]], {"template": "%s", "placeholder": "%s", "summarize": -1}, note="all")
    c.add("ShardedFilename", [np.array("dir/part"), np.int32(3), np.int32(12)])


@family
def control(c):
    for op in ["Identity", "StopGradient", "PreventGradient", "Snapshot"]:
        c.add(op, [floats(2, 3)])
        c.add(op, [ints(3)], note="int32")
    c.add("IdentityN", [[floats(2), ints(3)]], expect=None)
    c.add("PlaceholderWithDefault", [floats(2)], {"shape": [2]})
    c.add("EnsureShape", [floats(2, 3)], {"shape": [-1, 3]})
    c.add("EnsureShape", [floats(2, 3)], {"shape": [-1, 4]}, note="bad", error="is not compatible with expected shape")
    c.add("CheckNumerics", [floats(3)], {"message": "m"})
    c.add("CheckNumerics", [np.array([1, NAN], np.float32)], {"message": "here"}, note="nan",
          error="here : Tensor had NaN values")
    c.add("CheckNumerics", [np.array([1, INF], np.float64)], {"message": "here"}, note="inf",
          error="here : Tensor had")
    c.add("CheckNumerics", [np.array([NAN, INF], np.float32)], {"message": "here"}, note="both",
          error="here : Tensor had")
    c.add("Assert", [np.array(True), [np.array("message")]])
    c.add("Assert", [np.array(False), [np.array("not so:"), ints(5), floats(2, 2)]], note="fails",
          error="assertion failed: [not so:] [")


def main():
    wanted = sys.argv[1:] or list(FAMILIES)
    for name in wanted:
        cases = Cases(name)
        FAMILIES[name](cases)
        cases.write()


if __name__ == "__main__":
    main()
