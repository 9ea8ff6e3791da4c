# SPDX-License-Identifier: Apache-2.0
"""Random calls of ops, made from calls that are known: the cases of tests/golden/ops with other
dtypes, values, shapes, attributes, or an input of another case of the op."""
import base64
import json
import random

import numpy as np
import tensorflow as tf
from tensorflow.python.framework import op_def_registry

DTYPES = {"DT_FLOAT": tf.float32, "DT_DOUBLE": tf.float64, "DT_HALF": tf.float16,
          "DT_BFLOAT16": tf.bfloat16, "DT_INT8": tf.int8, "DT_INT16": tf.int16,
          "DT_INT32": tf.int32, "DT_INT64": tf.int64, "DT_UINT8": tf.uint8,
          "DT_UINT16": tf.uint16, "DT_UINT32": tf.uint32, "DT_UINT64": tf.uint64,
          "DT_BOOL": tf.bool, "DT_STRING": tf.string, "DT_COMPLEX64": tf.complex64,
          "DT_COMPLEX128": tf.complex128}
MAX_ELEMENTS = 600
SPECIAL_FLOATS = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.5, 1e-30, -1e-30, 88.0, -90.0, 1e4, float("nan"),
                  float("inf"), float("-inf")]
STRINGS = [b"", b"a", b"abc", b"3.5", b"-7", b"nan", b"\xff\xfe", b"\xc3\xa4\xe2\x82\xac", b"a b  c",
           b"a,b,,c", b"\x00x", b"QUJD", b"x" * 70]


class Unusable(Exception):
    """A case that this cannot take apart."""


class Call:
    """op, attrs (as in JSON), args: for each input of the op an array or a list of arrays; variables:
    the indexes of args that are handles of variables with that value."""

    def __init__(self, op, attrs, args, variables, tolerance):
        self.op, self.attrs, self.args = op, dict(attrs), list(args)
        self.variables, self.tolerance = variables, tolerance

    def copy(self):
        args = [list(a) if isinstance(a, list) else a for a in self.args]
        return Call(self.op, self.attrs, args, self.variables, self.tolerance)


def array_of(tensor):
    dtype = DTYPES.get(tensor["dtype"])
    if dtype is None:
        raise Unusable(tensor["dtype"])
    values = tensor["values"]
    if dtype == tf.string:
        flat = [base64.b64decode(v["b64"]) if isinstance(v, dict) else v.encode() for v in values]
        array = np.empty(len(flat), object)
        array[:] = flat
    elif dtype.is_complex:
        array = np.array([complex(float(a), float(b)) for a, b in values], dtype.as_numpy_dtype)
    elif dtype.is_floating:
        array = np.array([float(v) for v in values], np.float64).astype(dtype.as_numpy_dtype)
    else:
        array = np.array(values, dtype.as_numpy_dtype)
    return array.reshape(tensor["shape"])


def parse_call(line):
    case = json.loads(line)
    op_def = op_def_registry.get(case["op"])
    if op_def is None:
        raise Unusable(case["op"])
    tensors = {int(k): (array_of(v), False) for k, v in case["inputs"].items()}
    tensors.update({int(k): (array_of(v), True) for k, v in case.get("variables", {}).items()})
    flat = [tensors[i] for i in range(len(tensors))]
    attrs = case.get("attrs", {})
    args, variables, at = [], set(), 0
    counts = list_lengths(op_def, attrs, len(flat))
    for i, arg in enumerate(op_def.input_arg):
        if arg.number_attr or arg.type_list_attr:
            n = counts[i]
            args.append([array for array, _ in flat[at:at + n]])
            at += n
            continue
        args.append(flat[at][0])
        if flat[at][1]:
            variables.add(i)
        at += 1
    tolerance = {k: case[k] for k in ("rtol", "atol") if k in case}
    return Call(case["op"], attrs, args, variables, tolerance)


def list_lengths(op_def, attrs, total):
    """How many tensors each list argument takes."""
    lists = [i for i, a in enumerate(op_def.input_arg) if a.number_attr or a.type_list_attr]
    rest = total - (len(op_def.input_arg) - len(lists))
    counts = {}
    for i in lists:
        arg = op_def.input_arg[i]
        value = attrs.get(arg.number_attr or arg.type_list_attr)
        if value is not None:
            counts[i] = value if arg.number_attr else len(value)
    unknown = [i for i in lists if i not in counts]
    rest -= sum(counts.values())
    if unknown and len({op_def.input_arg[i].number_attr or i for i in unknown}) > 1:
        raise Unusable(op_def.name)
    for i in unknown:
        counts[i] = rest // len(unknown)
    return counts


def random_values(rng, dtype, shape):
    """Numbers of one kind: small, special, or of all sizes."""
    dtype = tf.as_dtype(dtype)
    n = int(np.prod(shape, dtype=np.int64))
    if dtype == tf.string:
        array = np.empty(n, object)
        array[:] = [rng.choice(STRINGS) for _ in range(n)]
        return array.reshape(shape)
    if dtype == tf.bool:
        return np.array([rng.random() < 0.5 for _ in range(n)], bool).reshape(shape)
    kind = rng.random()
    if dtype.is_integer:
        low, high = max(dtype.min, -9), min(dtype.max, 9)
        values = [rng.randint(low, high) for _ in range(n)]
        if kind < 0.2:
            edges = [dtype.min, dtype.max, 0, 1, max(dtype.min, -1), dtype.min + 1, dtype.max - 1]
            values = [rng.choice(edges) for _ in range(n)]
        elif kind < 0.5:
            values = [rng.randint(0, 3) for _ in range(n)]
        return np.array(values, dtype.as_numpy_dtype).reshape(shape)

    def one():
        if kind < 0.3:
            return rng.choice(SPECIAL_FLOATS)
        return round(rng.uniform(-3, 3) if kind < 0.9 else rng.uniform(-60, 60), 3)
    if dtype.is_complex:
        values = [complex(one(), one()) for _ in range(n)]
    else:
        values = [one() for _ in range(n)]
    with np.errstate(all="ignore"):
        return np.array(values).astype(dtype.as_numpy_dtype).reshape(shape)


def cast(rng, array, dtype):
    """The values as the other dtype, where they have one there."""
    source, target = tf.as_dtype(array.dtype), tf.as_dtype(dtype)
    if source == target:
        return array
    if tf.string in (source, target):
        return random_values(rng, target, array.shape)
    with np.errstate(all="ignore"):
        if source.is_complex and not target.is_complex:
            array = array.real
        if target.is_integer or target == tf.bool:
            wide = np.nan_to_num(np.asarray(array, np.float64), nan=0, posinf=9, neginf=-9)
            if target.is_integer:
                wide = np.clip(wide, max(target.min, -2.0**30), min(target.max, 2.0**30))
            array = wide
        return np.asarray(array).astype(target.as_numpy_dtype)


def resize(array, shape):
    n = int(np.prod(shape, dtype=np.int64))
    if array.size == 0:
        return np.zeros(shape, array.dtype) if array.dtype != object else np.full(shape, b"", object)
    return np.resize(array, n).reshape(shape)


def slots(call):
    """Every tensor: (argument, place in its list or None)."""
    for i, arg in enumerate(call.args):
        if isinstance(arg, list):
            for j in range(len(arg)):
                yield i, j
        else:
            yield i, None


def get(call, slot):
    i, j = slot
    return call.args[i] if j is None else call.args[i][j]


def put(call, slot, array):
    i, j = slot
    if j is None:
        call.args[i] = array
    else:
        call.args[i][j] = array


def mutate_dtype(call, rng, others):
    op_def = op_def_registry.get(call.op)
    types = [a for a in op_def.attr if a.type == "type"]
    if not types:
        return
    attr = rng.choice(types)
    allowed = [tf.as_dtype(t) for t in attr.allowed_values.list.type]
    allowed = [t for t in allowed or DTYPES.values() if t in DTYPES.values()]
    if not allowed:
        return
    dtype = rng.choice(allowed)
    names = {t: n for n, t in DTYPES.items()}
    tied = [i for i, a in enumerate(op_def.input_arg) if a.type_attr == attr.name]
    if attr.name in call.attrs or not tied:
        call.attrs[attr.name] = names[dtype]
    for i, j in list(slots(call)):
        if i in tied or (i in call.variables and attr.name in ("T", "dtype")):
            put(call, (i, j), cast(rng, get(call, (i, j)), dtype.as_numpy_dtype))


def mutate_values(call, rng, others):
    places = list(slots(call))
    if not places:
        return
    place = rng.choice(places)
    array = get(call, place)
    if array.size and rng.random() < 0.5:  # one element
        array = array.copy()
        array.reshape(-1)[rng.randrange(array.size)] = random_values(rng, array.dtype, [1])[0]
        put(call, place, array)
    else:
        put(call, place, random_values(rng, array.dtype, array.shape))


def mutate_shape(call, rng, others):
    places = list(slots(call))
    if not places:
        return
    sizes = sorted({d for p in places for d in get(call, p).shape})
    size = rng.choice([0, 1, 1, 2, 3, 4, 5, 7, 9, 17])
    if sizes and rng.random() < 0.6:  # one size, everywhere
        old = rng.choice(sizes)
        for place in places:
            array = get(call, place)
            put(call, place, resize(array, [size if d == old else d for d in array.shape]))
        return
    place = rng.choice(places)
    array = get(call, place)
    shape = list(array.shape)
    kind = rng.random()
    if kind < 0.5 and shape:
        shape[rng.randrange(len(shape))] = size
    elif kind < 0.7 and shape:
        del shape[rng.randrange(len(shape))]
    elif kind < 0.9:
        shape.insert(rng.randint(0, len(shape)), rng.choice([1, 1, 2, 3, 0]))
    else:
        shape = [rng.choice([1, 2, 3]) for _ in range(rng.randint(0, 5))]
    put(call, place, resize(array, shape))


def mutate_attr(call, rng, others):
    op_def = op_def_registry.get(call.op)
    inferred = {a.number_attr for a in op_def.input_arg} | {a.type_list_attr for a in op_def.input_arg}
    attrs = [a for a in op_def.attr if a.name not in inferred and
             a.type in ("int", "bool", "float", "string", "list(int)")]
    if not attrs:
        return
    attr = rng.choice(attrs)
    old = call.attrs.get(attr.name)
    if attr.type == "bool":
        call.attrs[attr.name] = rng.random() < 0.5
    elif attr.type == "float":
        call.attrs[attr.name] = rng.choice([0.0, 1.0, -1.0, 0.5, 0.1, 2.0, 1e-3])
    elif attr.type == "string":
        allowed = [v.decode() for v in attr.allowed_values.list.s]
        if allowed:
            call.attrs[attr.name] = rng.choice(allowed)
    elif attr.type == "int":
        base = old if isinstance(old, int) else attr.default_value.i
        call.attrs[attr.name] = rng.choice([base + 1, base - 1, 0, 1, 2, -1, -2])
    elif isinstance(old, list) and old:
        new = list(old)
        at = rng.randrange(len(new))
        new[at] = rng.choice([new[at] + 1, max(new[at] - 1, 0), 0, 1, 2, -1])
        call.attrs[attr.name] = new if rng.random() < 0.9 else new[:-1]


def mutate_exchange(call, rng, others):
    places = [p for p in slots(call)]
    other = rng.choice(others)
    if not places:
        return
    place = rng.choice(places)
    if place in set(slots(other)) and place[0] not in call.variables | other.variables:
        put(call, place, cast(rng, get(other, place), get(call, place).dtype))
    elif rng.random() < 0.5:
        call.attrs = dict(other.attrs)


MUTATIONS = [mutate_dtype, mutate_values, mutate_values, mutate_shape, mutate_shape, mutate_attr,
             mutate_exchange]


def random_call(calls, seed, index):
    """Call `index` of a run: the ops take turns. calls: {op: [Call]}."""
    ops = sorted(calls)
    op = ops[index % len(ops)]
    # The calls of an op do not depend on which other ops there are.
    rng = random.Random(f"{seed}:{op}:{index // len(ops)}")
    others = calls[op]
    call = rng.choice(others).copy()
    for _ in range(rng.choice([1, 1, 2, 2, 3, 4])):
        rng.choice(MUTATIONS)(call, rng, others)
    if sum(get(call, p).size for p in slots(call)) > MAX_ELEMENTS:
        raise Unusable("large")
    return call
