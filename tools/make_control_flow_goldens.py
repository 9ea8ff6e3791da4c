#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes tests/golden/saved_models/{loops,lists,graph_v1,words_1,words_2} with TensorFlow.

  make_control_flow_goldens.py tests/golden

NAME/saved_model   a model
NAME/case.json     calls in order: typed tensor JSON with "steps"
NAME/expected.json TensorFlow's results: {"step0": {NAME: TENSOR}, ...}

Numbers are sums of few powers of two, so that results are exact.

loops     While, Case and If, nested, with growing shapes; calls of functions by name
lists     every TensorList op
graph_v1  a graph of TensorFlow 1: reference variables (partitioned, scattered, assigned in a
          branch), conditionals and loops of switches and merges, arrays, stacks, a main op
words_1   a vocabulary from an asset with room for other words, and a table that one signature fills
          and another reads
words_2   its second version: the same names of nodes, tables and assets, other words
"""
import json
import os
import shutil
import sys
import tempfile

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow as tf

raw, v1 = tf.raw_ops, tf.compat.v1
out = os.path.abspath(os.path.join(sys.argv[1], "saved_models"))
NAMES = {"float32": "DT_FLOAT", "int32": "DT_INT32", "int64": "DT_INT64", "bool": "DT_BOOL",
         "string": "DT_STRING"}


def tensor(value):
    value = np.asarray(value.numpy() if hasattr(value, "numpy") else value)
    kind = value.dtype.name if value.dtype.kind in "fib" else "string"
    flat = [v.decode() if isinstance(v, bytes) else v for v in value.reshape(-1).tolist()]
    return {"dtype": NAMES[kind], "shape": list(value.shape), "values": flat}


def write(name, calls, results):
    folder = os.path.join(out, name)
    steps = [{"signature": s, "inputs": {k: tensor(v) for k, v in i.items()}} for s, i in calls]
    expected = {f"step{n}": {k: tensor(v) for k, v in sorted(r.items())} for n, r in enumerate(results)}
    for file, value in (("case.json", {"steps": steps}), ("expected.json", expected)):
        with open(os.path.join(folder, file), "w") as f:
            f.write(json.dumps(value) + "\n")
    fingerprint = os.path.join(folder, "saved_model", "fingerprint.pb")
    if os.path.exists(fingerprint):
        os.remove(fingerprint)
    assets = os.path.join(folder, "saved_model", "assets")
    if os.path.isdir(assets) and not os.listdir(assets):
        os.rmdir(assets)


def save(name, module, signatures, calls):
    model = os.path.join(out, name, "saved_model")
    shutil.rmtree(os.path.join(out, name), ignore_errors=True)
    tf.saved_model.save(module, model, signatures=signatures)
    loaded = tf.saved_model.load(model)
    results = [loaded.signatures[s](**{k: tf.constant(v) for k, v in i.items()}) for s, i in calls]
    write(name, calls, results)


def spec(dtype, shape=()):
    return tf.TensorSpec(shape, dtype)


class Loops(tf.Module):
    @tf.function(input_signature=[spec(tf.int32)])
    def grow(self, n):
        return {"v": tf.while_loop(
            lambda i, v: i < n, lambda i, v: (i + 1, tf.concat([v, [i * i]], 0)),
            [0, tf.constant([7])], shape_invariants=[tf.TensorShape([]), tf.TensorShape([None])])[1]}

    @tf.function(input_signature=[spec(tf.int32), spec(tf.int32)])
    def nested(self, n, branch):
        def body(i, total):
            inner = tf.while_loop(lambda j, t: j <= i, lambda j, t: (j + 1, t + j), [0, 0])[1]
            return i + 1, total + tf.cond(i % 2 == 0, lambda: inner, lambda: -inner)
        total = tf.while_loop(lambda i, t: i < n, body, [0, 0])[1]
        case = tf.switch_case(branch, [lambda: total, lambda: total * 10, lambda: n])
        text = tf.while_loop(lambda i, t: i < n, lambda i, t: (i + 1, tf.strings.join([t, tf.gather(["a", "b"], i % 2)])),
                             [0, tf.constant("")])[1]
        return {"total": total, "case": case, "text": text}

    @tf.function(input_signature=[spec(tf.float32, [None])])
    def gradient(self, x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * x), [0, x])[1]
        return {"dx": tape.gradient(y, x)}


class Lists(tf.Module):
    @tf.function(input_signature=[spec(tf.float32, [None, 2]), spec(tf.int32, [None])])
    def lists(self, x, at):
        f, shape = tf.float32, tf.constant([2], tf.int32)
        any_shape = tf.constant(-1, tf.int32)
        whole = raw.TensorListFromTensor(tensor=x, element_shape=shape)
        empty = raw.EmptyTensorList(element_shape=shape, max_num_elements=4, element_dtype=f)
        pushed = raw.TensorListPushBack(input_handle=empty, tensor=[0.5, 1.5])
        pushed = raw.TensorListPushBack(input_handle=pushed, tensor=[2.0, 3.0])
        popped, last = raw.TensorListPopBack(input_handle=pushed, element_shape=shape, element_dtype=f)
        reserved = raw.TensorListReserve(element_shape=shape, num_elements=4, element_dtype=f)
        some = raw.TensorListSetItem(input_handle=reserved, index=2, item=[1.0, 2.0])
        longer = raw.TensorListSetItem(input_handle=some, index=6, item=[4.0, 8.0],
                                       resize_if_index_out_of_bounds=True)
        both = raw.TensorListConcatLists(input_a=whole, input_b=pushed, element_dtype=f)
        scattered = raw.TensorListScatterV2(tensor=x, indices=at, element_shape=shape, num_elements=8)
        into = raw.TensorListScatterIntoExistingList(input_handle=longer, tensor=x, indices=at)
        pieces = raw.TensorListSplit(tensor=x, element_shape=tf.constant([-1, 2]),
                                     lengths=tf.constant([1, 0, 2], tf.int64))
        joined, lengths = raw.TensorListConcatV2(input_handle=pieces, element_shape=tf.constant([-1, 2]),
                                                 leading_dims=tf.constant([], tf.int64), element_dtype=f)
        stack = lambda l: raw.TensorListStack(input_handle=l, element_shape=any_shape, element_dtype=f)
        item = lambda l, i: raw.TensorListGetItem(input_handle=l, index=i, element_shape=shape, element_dtype=f)
        length = lambda l: raw.TensorListLength(input_handle=l)
        return {
            "stacked": stack(whole), "pushed": stack(pushed), "popped": stack(popped), "last": last,
            "unset": item(some, 0), "set": item(some, 2), "some": stack(some), "longer": stack(longer),
            "both": stack(both), "scattered": stack(scattered), "into": stack(into),
            "joined": joined, "lengths": lengths,
            "gathered": raw.TensorListGather(input_handle=both, indices=at, element_shape=shape, element_dtype=f),
            "sizes": tf.stack([length(l) for l in (whole, pushed, popped, longer, both, scattered)]),
            "resized": stack(raw.TensorListResize(input_handle=whole, size=1)),
            "shape": raw.TensorListElementShape(input_handle=whole, shape_type=tf.int64),
            "zeros": stack(tf.zeros_like(both)),
            # Elements that both have, one has, none has.
            "added": stack(raw.AddN(inputs=[some, raw.TensorListSetItem(input_handle=some, index=1, item=[8.0, 4.0])])),
        }

    @tf.function(input_signature=[spec(tf.int32)])
    def fill(self, n):
        a = tf.TensorArray(tf.float32, 0, dynamic_size=True, element_shape=[])
        a = tf.while_loop(lambda i, a: i < n, lambda i, a: (i + 1, a.write(i, tf.cast(i, tf.float32))), [0, a])[1]
        value = tf.experimental.Optional.from_value((tf.constant(3), a.size())).get_value()
        return {"sum": tf.reduce_sum(a.stack()), "size": value[1]}


def graph_v1():
    v1.disable_control_flow_v2()
    folder = os.path.join(out, "graph_v1")
    shutil.rmtree(folder, ignore_errors=True)
    with tf.Graph().as_default(), v1.Session() as session:
        x = v1.placeholder(tf.float32, [None], name="x")
        n = v1.placeholder(tf.int32, [], name="n")
        by = v1.placeholder(tf.float32, [], name="by")
        scale = v1.get_variable("scale", initializer=tf.constant(2.0), use_resource=False)
        count = v1.get_variable("count", initializer=tf.constant(1.0), use_resource=False)
        rows = v1.get_variable("rows", initializer=tf.constant([1.0, 2.0, 4.0]), use_resource=False)
        parts = v1.get_variable("parts", [6, 2], partitioner=v1.fixed_size_partitioner(3), use_resource=False,
                                initializer=v1.random_uniform_initializer(0, 8, dtype=tf.float32))
        ready = v1.get_variable("ready", initializer=tf.constant(0.0), use_resource=False,
                                collections=[v1.GraphKeys.LOCAL_VARIABLES])
        main_op = v1.group(v1.assign(ready, 64.0))

        pair = v1.cond(tf.reduce_sum(x) > 0, lambda: [x * scale, x + 1.0], lambda: [x - scale, -x])
        nested = v1.cond(n > 2, lambda: v1.cond(n > 5, lambda: x + 5.0, lambda: pair[0]), lambda: -x)
        again = v1.cond(tf.reduce_sum(nested) > 0, lambda: pair[1], lambda: nested)

        def outer(i, total):
            inner = v1.while_loop(lambda j, t: j <= i, lambda j, t: (j + 1, t + i * j), [0, 0])[1]
            return i + 1, total + v1.cond(tf.equal(i % 2, 0), lambda: inner, lambda: -inner)

        loop = v1.while_loop(lambda i, t: i < n, outer, [0, 0])[1]
        power = v1.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, y * x), [0, tf.ones_like(x)])[1]
        gradient = v1.gradients(tf.reduce_sum(power), x)[0]
        array = tf.TensorArray(tf.float32, size=n, element_shape=[])
        array = v1.while_loop(lambda i, a: i < n, lambda i, a: (i + 1, a.write(i, tf.cast(i * i, tf.float32))),
                              [0, array])[1]
        summed = tf.scan(lambda a, v: a + v, x)

        added = v1.assign_add(count, by)
        with tf.control_dependencies([added]):
            doubled = v1.assign(count, count.read_value() * 2.0)
        with tf.control_dependencies([doubled]):
            after = tf.identity(count)
        scattered = v1.scatter_update(rows, [2, 0], [by, by + 1.0])
        checked = v1.Assert(by > 0.0, ["by must be positive", by])
        with tf.control_dependencies([checked]):
            safe = tf.identity(by)
        guarded = v1.cond(by > 4.0, lambda: v1.assign_add(count, 16.0), lambda: tf.identity(count))

        session.run([v1.global_variables_initializer(), v1.local_variables_initializer()])
        for i, part in enumerate(parts):
            session.run(part.assign(np.float32([[4 * i, 4 * i + 1], [4 * i + 2, 4 * i + 3]])))
        info = lambda d: {k: v1.saved_model.build_tensor_info(t) for k, t in d.items()}
        signature = lambda i, o: v1.saved_model.build_signature_def(
            info(i), info(o), "tensorflow/serving/predict")
        graph = {"pair0": pair[0], "pair1": pair[1], "nested": nested, "again": again, "loop": loop,
                 "power": power, "gradient": gradient, "array": array.stack(), "summed": summed,
                 "parts": tf.convert_to_tensor(parts), "ready": ready + 0.0}
        signatures = {
            "serving_default": ({"x": x, "n": n}, graph),
            "add": ({"by": by}, {"after": after, "safe": safe}),
            "scatter": ({"by": by}, {"rows": scattered}),
            "guarded": ({"by": by}, {"count": guarded}),
            "get": ({}, {"count": count, "rows": rows.read_value()})}
        builder = v1.saved_model.Builder(os.path.join(folder, "saved_model"))
        builder.add_meta_graph_and_variables(
            session, ["serve"], {k: signature(*v) for k, v in signatures.items()}, main_op=main_op)
        builder.save()
        calls = [("serving_default", {"x": np.float32([1, 2]), "n": np.int32(0)}),
                 ("serving_default", {"x": np.float32([-1, 0.5]), "n": np.int32(3)}),
                 ("serving_default", {"x": np.float32([0.5, -0.25, 2]), "n": np.int32(7)}),
                 ("get", {}), ("add", {"by": np.float32(2)}), ("get", {}),
                 ("scatter", {"by": np.float32(8)}), ("guarded", {"by": np.float32(1)}),
                 ("guarded", {"by": np.float32(5)}), ("get", {})]
    with tf.Graph().as_default(), v1.Session() as session:
        v1.saved_model.load(session, ["serve"], os.path.join(folder, "saved_model"))
        results = []
        for name, inputs in calls:
            feeds, fetches = signatures[name]
            # One that has an update for an output gives what the update made.
            results.append(session.run({k: t.name for k, t in fetches.items()},
                                       {feeds[k].name: v for k, v in inputs.items()}))
        write("graph_v1", calls, results)
    v1.enable_control_flow_v2()


class Words(tf.Module):
    def __init__(self, path):
        super().__init__()
        words = tf.lookup.TextFileInitializer(path, tf.string, tf.lookup.TextFileIndex.WHOLE_LINE, tf.int64,
                                              tf.lookup.TextFileIndex.LINE_NUMBER)
        self.ids = tf.lookup.StaticVocabularyTable(words, 2)
        self.counts = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, 0)

    @tf.function(input_signature=[spec(tf.string, [None])])
    def look_up(self, words):
        return {"ids": self.ids[words], "counts": self.counts[words]}

    @tf.function(input_signature=[spec(tf.string, [None])])
    def count(self, words):
        self.counts.insert(words, self.counts[words] + 1)
        return {"size": self.counts.size()}


def vocabularies(folder):
    os.chdir(folder)
    path = "vocabulary.txt"  # the table is named after it
    for version, text in (("words_1", "red\ngreen\nblue\n"), ("words_2", "blue\nred\n\u00e9t\u00e9\ngreen\n")):
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        words = Words(path)
        asked = {"words": np.array(["blue", "red", "green", "\u00e9t\u00e9", "x"])}
        save(version, words, {"look_up": words.look_up, "count": words.count},
             [("look_up", asked), ("count", {"words": np.array(["red", "x"])}), ("look_up", asked)])


loops, lists = Loops(), Lists()
save("loops", loops, {"grow": loops.grow, "nested": loops.nested, "gradient": loops.gradient},
     [("grow", {"n": np.int32(5)}), ("grow", {"n": np.int32(0)}),
      ("nested", {"n": np.int32(6), "branch": np.int32(1)}),
      ("nested", {"n": np.int32(3), "branch": np.int32(-1)}),
      ("gradient", {"x": np.float32([0.5, -2])})])
save("lists", lists, {"lists": lists.lists, "fill": lists.fill},
     [("lists", {"x": np.float32([[1, 2], [4, 8], [16, 32]]), "at": np.int32([3, 0, 1])}),
      ("fill", {"n": np.int32(100)})])
graph_v1()
with tempfile.TemporaryDirectory() as temporary:
    vocabularies(temporary)
