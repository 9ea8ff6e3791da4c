# SPDX-License-Identifier: Apache-2.0
"""How the cases of tests/golden/ops are made: each calls an op of TensorFlow. One case a line:
  {"name", "op", "attrs", "inputs": {"0": TENSOR, ...}, "outputs": {"0": TENSOR, ...}}
  {"name", "op", "attrs", "inputs", "error": {"code", "contains"}}
A TENSOR is typed tensor JSON. "variables" in place of some inputs: these are handles of variables
with that value; "after" is what the variables hold then. "rtol" and "atol" where the defaults of
the dtype (src/kernels/op_cases_test.cc) do not fit. Every error is provoked in TensorFlow too, and
its message must hold the text.
"""
import base64
import inspect
import json
import os
import pathlib
import zlib

os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow as tf

raw = tf.raw_ops
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FAMILIES = {}
NAN, INF = float("nan"), float("inf")
BF16 = tf.bfloat16.as_numpy_dtype
FLOATS = [np.float32, np.float64, np.float16, BF16]
INTS = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]
COMPLEX = [np.complex64, np.complex128]
CODES = {3: "INVALID_ARGUMENT", 5: "NOT_FOUND", 9: "FAILED_PRECONDITION", 11: "OUT_OF_RANGE",
         12: "UNIMPLEMENTED", 13: "INTERNAL"}


def family(function):
    FAMILIES[function.__name__] = function
    return function


def number(x):
    if isinstance(x, (bool, np.bool_)):
        return bool(x)
    if isinstance(x, (int, np.integer)):
        return int(x)
    if isinstance(x, (complex, np.complexfloating)):
        return [number(x.real), number(x.imag)]
    x32 = np.float32(x) if not isinstance(x, (np.float64, float)) else x
    if np.isnan(x32):
        return "NaN"
    if np.isinf(x32):
        return "Infinity" if x32 > 0 else "-Infinity"
    return float(x) if isinstance(x, (np.float64, float)) else float(str(np.float32(x)))


def text(value):
    try:
        return value.decode()
    except UnicodeDecodeError:
        return {"b64": base64.b64encode(value).decode()}


def tensor_json(array):
    t = tf.convert_to_tensor(array)
    name = "DT_" + t.dtype.name.upper()
    if t.dtype.is_quantized:
        t = tf.bitcast(t, t.dtype.name[1:])
    values = t.numpy()
    # numpy's own byte strings lose the zeros at their ends.
    flat = np.asarray(values, object if t.dtype == tf.string else None).reshape(-1)
    if t.dtype == tf.string:
        flat = [text(v) for v in flat.tolist()]
    else:
        flat = [number(v) for v in flat]
    if t.dtype != tf.bfloat16:
        name = name.replace("FLOAT32", "FLOAT").replace("FLOAT64", "DOUBLE").replace("FLOAT16", "HALF")
    return {"dtype": name, "shape": list(t.shape), "values": flat}


def attr_json(value):
    if isinstance(value, tf.DType):
        if value.is_quantized:
            return "DT_" + value.name.upper()
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
            several = isinstance(value, list) and (not value or hasattr(value[0], "dtype"))
            flat += value if several else [value]
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


RNG = np.random.RandomState()


def write_family(name):
    """The same numbers for a family whichever others are made."""
    RNG.seed(zlib.crc32(name.encode()))
    cases = Cases(name)
    FAMILIES[name](cases)
    cases.write()


def floats(*shape, dtype=np.float32, low=-3.0, high=3.0):
    return np.round(RNG.uniform(low, high, shape), 3).astype(dtype)


def ints(*shape, dtype=np.int32, low=-9, high=10):
    if np.issubdtype(dtype, np.unsignedinteger):
        low = max(low, 0)
    return RNG.randint(low, high, shape).astype(dtype)


def complexes(*shape, dtype=np.complex64, low=-3.0, high=3.0):
    return (floats(*shape, dtype=np.float64, low=low, high=high) +
            1j * floats(*shape, dtype=np.float64, low=low, high=high)).astype(dtype)


def any_numbers(dtype, *shape):
    if dtype in FLOATS:
        return floats(*shape, dtype=dtype)
    if dtype in COMPLEX:
        return complexes(*shape, dtype=dtype)
    return ints(*shape, dtype=dtype)


SPECIAL = np.array([0.0, -0.0, 1.0, -1.0, NAN, INF, -INF, 1e-30, -1e-30, 3.5, -2.5, 88.0, -90.0,
                    1e20], np.float32)
I32 = np.int32


def i32(*values):
    return np.array(values, np.int32)
