# SPDX-License-Identifier: Apache-2.0
from op_cases.framework import *

FLOAT, INT, TEXT = tf.float32, tf.int64, tf.string
NO = {FLOAT: np.zeros([0], np.float32), INT: np.zeros([0], np.int64), TEXT: tf.zeros([0], tf.string)}


def s(*values):
    return np.array(values, dtype=object) if values else NO[TEXT]


def fill(feature, values):
    if values is None:
        return
    if values == []:
        feature.int64_list.SetInParent()
    elif isinstance(values[0], float):
        feature.float_list.value.extend(values)
    elif isinstance(values[0], int):
        feature.int64_list.value.extend(values)
    else:
        feature.bytes_list.value.extend(values)


def example(context=None, **lists):
    e = tf.train.SequenceExample()
    for name, values in (context or {}).items():
        fill(e.context.feature[name], values)
    for name, steps in lists.items():
        e.feature_lists.feature_list[name].SetInParent()
        for values in steps:
            fill(e.feature_lists.feature_list[name].feature.add(), values)
    return e.SerializeToString()


A = example({"x": [1.0, 2.0], "i": [3], "s": [b"a", b"bc"]}, f=[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], n=[[1], [2, 3], []], t=[[b"u"], [b"v", b"w"]])
B = example({"x": [4.0, 5.0]}, f=[[7.0, 8.0]], n=[[9, 8, 7]])
EMPTY = example()


def types(features, i=1):
    return [f[i] for f in features]


def keys(features):
    return s(*[f[0] for f in features])


def v2(c, serialized, cs=(), cd=(), cr=(), fs=(), fd=(), fr=(), missing=None, names=(), **rest):
    """cs, fs: (key, type); cd: (key, default, shape); fd: (key, type, shape); cr, fr: (key, type, splits)."""
    defaults = types(cd)
    if missing is None:
        missing = [False] * len(fd)
    c.add("ParseSequenceExampleV2",
          [serialized, s(*names), keys(cs), keys(cd), keys(cr), keys(fs), keys(fd), keys(fr), np.array(missing, bool), defaults],
          {"Ncontext_sparse": len(cs), "context_sparse_types": types(cs), "Tcontext_dense": [tf.convert_to_tensor(d).dtype for d in defaults],
           "context_dense_shapes": [list(f[2]) for f in cd], "context_ragged_value_types": types(cr), "context_ragged_split_types": types(cr, 2),
           "Nfeature_list_sparse": len(fs), "feature_list_sparse_types": types(fs), "Nfeature_list_dense": len(fd),
           "feature_list_dense_types": types(fd), "feature_list_dense_shapes": [list(f[2]) for f in fd],
           "feature_list_ragged_value_types": types(fr), "feature_list_ragged_split_types": types(fr, 2)}, **rest)


def batches(c):
    batch, f = s(A, B), ("f", FLOAT, [2])
    x = ("x", NO[FLOAT], [2])
    v2(c, batch, cs=[("x", FLOAT), ("i", INT), ("s", TEXT), ("none", INT)])
    v2(c, batch, cd=[x, ("i", np.array([7], np.int64), [1])])
    v2(c, batch, cr=[("x", FLOAT, tf.int32), ("s", TEXT, tf.int64), ("none", INT, tf.int64)])
    v2(c, batch, fs=[("f", FLOAT), ("n", INT), ("t", TEXT), ("none", INT)])
    v2(c, batch, fd=[f])
    v2(c, batch, fr=[("f", FLOAT, tf.int32), ("n", INT, tf.int64), ("t", TEXT, tf.int64), ("none", INT, tf.int32)])
    v2(c, batch, cs=[("i", INT)], cd=[x], cr=[("s", TEXT, tf.int32)], fs=[("n", INT)], fd=[f], fr=[("t", TEXT, tf.int64)], note="mixed")
    v2(c, np.array(A, object), cs=[("i", INT)], cd=[x], fs=[("n", INT)], fd=[f], note="single")
    v2(c, np.array(EMPTY, object), cs=[("i", INT)], fs=[("n", INT)], fd=[f], missing=[True], note="single")
    v2(c, s(), cs=[("i", INT)], cr=[("s", TEXT, tf.int32)], fs=[("n", INT)], fd=[f], fr=[("t", TEXT, tf.int64)], note="empty")
    v2(c, s(A, EMPTY, B), fd=[f, ("t", TEXT, [1])], missing=[True, True], error="Number of values != expected.  values size: 2 but output shape: [1]")
    v2(c, s(A, EMPTY, B), fd=[f, ("f", FLOAT, [2, 1])], missing=[True, True], note="twice")
    v2(c, s(example(t=[[b"u"], [b"v"]], n=[[1], [2]]), EMPTY), fd=[("t", TEXT, []), ("n", INT, [1])], missing=[True, True], note="texts")


def failures(c):
    f, x = ("f", FLOAT, [2]), ("x", NO[FLOAT], [2])
    missing = "is required but could not be found."
    v2(c, s(A, EMPTY), fd=[f], error=missing)
    v2(c, s(A, EMPTY), fd=[f], names=["a", "b"], error=missing)
    v2(c, np.array(EMPTY, object), cd=[x], error="")
    v2(c, np.array(EMPTY, object), fd=[f], error=missing)
    v2(c, s(A), fd=[("f", FLOAT, [3])], error="Name: <unknown>, Key: f, Index: 0.  Number of values != expected.  values size: 2 but output shape: [3]")
    v2(c, s(A), fd=[("n", FLOAT, [1])], error="Name: <unknown>, Feature list: n, Index: 0.  Data types don't match. Expected type: float")
    v2(c, s(A), fs=[("n", FLOAT)], error="Name: <unknown>, Feature list: n, Index: 0.  Data types don't match. Expected type: float")
    v2(c, s(A), fr=[("n", FLOAT, tf.int64)], error="Name: <unknown>, Feature list: n, Index: 0.  Data types don't match. Expected type: float")
    v2(c, s(A), cs=[("i", FLOAT)], error="Name: <unknown>, Context feature: i.  Data types don't match. Expected type: float")
    v2(c, s(A), cr=[("i", FLOAT, tf.int64)], error="Name: <unknown>, Context feature: i.  Data types don't match. Expected type: float")
    v2(c, s(A), cd=[("i", NO[FLOAT], [1])], error="Name: <unknown>, Context feature: i.  Data types don't match. Expected type: float")
    v2(c, s(A), cd=[("i", NO[INT], [2])], error="Inconsistent max number of elements for feature i: expected 2, but found 1")
    v2(c, s(A), cd=[("x", np.zeros([3], np.float32), [2])], error="default_value[0].shape() == [3] != context_dense_shapes[0] == [2]")
    v2(c, s(b"\x0a\x05ab"), cs=[("i", INT)], error="Invalid protocol message input, example id: <unknown>")
    v2(c, s(b"\x12\x05ab"), fs=[("i", INT)], error="")
    v2(c, s(A), names=["a", "b"], cs=[("i", INT)], error="example_names must be empty or have the correct number of elements")
    v2(c, s(A).reshape(1, 1), cs=[("i", INT)], error="Expected serialized to be a scalar or vector, got shape: [1,1]")
    v2(c, s(A), fd=[f], missing=[], error="to match Nfeature_list_dense")
    hole = example(f=[[1.0, 2.0], None, [3.0, 4.0]])
    v2(c, s(hole), fs=[("f", FLOAT)], note="hole")
    v2(c, s(hole), fr=[("f", FLOAT, tf.int64)], note="hole")
    v2(c, s(hole), fd=[f], note="hole", error="Key: f, Index: 1.  Number of values != expected.  values size: 0 but output shape: [2]")


def others(c):
    batch = s(A, B)
    attrs = {"context_sparse_keys": ["i"], "context_dense_keys": ["x"], "feature_list_sparse_keys": ["n"], "feature_list_dense_keys": ["f"],
             "feature_list_dense_missing_assumed_empty": ["f"], "Ncontext_sparse": 1, "Ncontext_dense": 1, "Nfeature_list_sparse": 1,
             "Nfeature_list_dense": 1, "context_sparse_types": [INT], "Tcontext_dense": [FLOAT], "feature_list_dense_types": [FLOAT],
             "context_dense_shapes": [[2]], "feature_list_sparse_types": [INT], "feature_list_dense_shapes": [[2]]}
    x = [np.array([7, 8], np.float32)]
    for serialized in (batch, s(A, EMPTY), s(), np.array(A, object)):
        c.add("ParseSequenceExample", [serialized, s(), x], attrs)
    c.add("ParseSequenceExample", [s(EMPTY), s(), x], {**attrs, "feature_list_dense_missing_assumed_empty": []}, error="is required but could not be found.")
    attrs = {k: v for k, v in attrs.items() if "keys" not in k and "missing" not in k}
    names = [[s(k)[0:1].reshape([])] for k in ("i", "x", "n", "f")]
    for serialized in (A, B, EMPTY):
        c.add("ParseSingleSequenceExample", [np.array(serialized, object), s("f"), *names, x, np.array("", object)], attrs)
    for note, changed in (("fd", s("none")), ("fd", s("x"))):
        c.add("ParseSingleSequenceExample", [np.array(EMPTY, object), changed, *names, x, np.array("d", object)], attrs, error="Name: d, Feature list 'f' is required but could not be found.")
    c.add("ParseSingleSequenceExample", [np.array(EMPTY, object), s("f"), *names, [NO[FLOAT]], np.array("d", object)], attrs, error="")
    c.add("ParseSingleSequenceExample", [np.array(b"\x0a\x05ab", object), s("f"), *names, x, np.array("d", object)], attrs, error="")
    c.add("ParseSingleSequenceExample", [np.array(example({"x": [1]}), object), s("f"), *names, x, np.array("d", object)], attrs, error="")
    c.add("ParseSingleSequenceExample", [np.array(example(f=[[1.0]]), object), s("f"), *names, x, np.array("d", object)], attrs, error="")
    c.add("ParseSingleSequenceExample", [np.array(example(n=[[1.0]]), object), s("f"), *names, x, np.array("d", object)], attrs, error="")
    c.add("ParseSingleSequenceExample", [np.array(example(n=[None, [1]]), object), s("f"), *names, x, np.array("d", object)], attrs, note="hole")


@family
def parse_sequence(c):
    for part in (batches, failures, others):
        part(c)
