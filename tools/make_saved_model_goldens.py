#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes tests/golden/saved_models with TensorFlow.

  make_saved_model_goldens.py tests/golden

NAME/saved_model   a model
NAME/case.json     calls in order: typed tensor JSON with "steps"
NAME/expected.json TensorFlow's results: {"step0": {NAME: TENSOR}, ...}
NAME/show.txt      what `saved_model_cli show --all` prints (its set of ops sorted)

affine    y = a * x + b with two variables, a nested function, an input of unknown size
counter   signatures that read and write one variable, beside one that nobody writes
branches  a branch, several inputs and outputs
text      affine as saved_model.pbtxt
tags      affine with a second MetaGraph under the tags {serve, int8}
"""
import contextlib
import io
import json
import os
import re
import shutil
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tensorflow as tf
from google.protobuf import text_format
from tensorflow.core.protobuf import saved_model_pb2
from tensorflow.python.tools import saved_model_cli

out = os.path.join(sys.argv[1], "saved_models")
shutil.rmtree(out, ignore_errors=True)
vector = tf.TensorSpec([None], tf.float32)
scalar = tf.TensorSpec([], tf.float32)


class Affine(tf.Module):
    def __init__(self):
        super().__init__()
        self.a = tf.Variable(0.5, name="a")
        self.b = tf.Variable(2.0, name="b")

    @tf.function
    def scaled(self, x):
        return x * self.a

    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32, name="x")])
    def serve(self, x):
        return {"y": self.scaled(x) + self.b}


class Counter(tf.Module):
    def __init__(self):
        super().__init__()
        self.count = tf.Variable(0.0, name="count")
        self.step = tf.Variable(10.0, name="step")

    @tf.function(input_signature=[])
    def get(self):
        return {"count": self.count.read_value()}

    @tf.function(input_signature=[tf.TensorSpec([], tf.float32, name="times")])
    def add(self, times):
        before = self.count.read_value()
        self.count.assign_add(times * self.step)
        return {"before": before, "after": self.count.read_value()}


class Branches(tf.Module):
    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32, name="x"),
                                  tf.TensorSpec([], tf.bool, name="flag")])
    def serve(self, x, flag):
        y = tf.cond(flag, lambda: x * 2.0, lambda: x - 1.0)
        return {"y": y, "sum": tf.reduce_sum(y)}


def tensor(value):
    value = tf.convert_to_tensor(value)
    return {"dtype": "DT_" + {"float32": "FLOAT", "bool": "BOOL"}[value.dtype.name],
            "shape": value.shape.as_list(), "values": value.numpy().reshape(-1).tolist()}


def save(name, module, signatures, calls):
    folder = os.path.join(out, name)
    model = os.path.join(folder, "saved_model")
    tf.saved_model.save(module, model, signatures=signatures)
    loaded = tf.saved_model.load(model)
    steps, expected = [], {}
    for signature, inputs in calls:
        inputs = {k: tf.constant(v) for k, v in inputs.items()}
        result = loaded.signatures[signature](**inputs)
        expected[f"step{len(steps)}"] = {k: tensor(v) for k, v in sorted(result.items())}
        steps.append({"signature": signature, "inputs": {k: tensor(v) for k, v in inputs.items()}})
    write_json(os.path.join(folder, "case.json"), {"steps": steps})
    write_json(os.path.join(folder, "expected.json"), expected)
    finish(name)


def write_json(path, value):
    with open(path, "w") as f:
        f.write(json.dumps(value) + "\n")


def finish(name):
    folder = os.path.join(out, name)
    model = os.path.join(folder, "saved_model")
    for extra in ("fingerprint.pb", "assets"):
        path = os.path.join(model, extra)
        shutil.rmtree(path) if os.path.isdir(path) else os.path.exists(path) and os.remove(path)
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        saved_model_cli._show_all(model)
    shown = re.sub(r"\{('.*')\}", lambda m: "{" + ", ".join(sorted(m[1].split(", "))) + "}",
                   text.getvalue())
    with open(os.path.join(folder, "show.txt"), "w") as f:
        f.write(shown)


def edit(name, source, change, text=False):
    folder = os.path.join(out, name)
    shutil.copytree(os.path.join(out, source), folder)
    path = os.path.join(folder, "saved_model", "saved_model.pb")
    proto = saved_model_pb2.SavedModel()
    with open(path, "rb") as f:
        proto.ParseFromString(f.read())
    change(proto)
    os.remove(path)
    with open(path + ("txt" if text else ""), "wb") as f:
        f.write(text_format.MessageToString(proto).encode() if text else proto.SerializeToString())
    finish(name)


def second_meta_graph(proto):
    proto.meta_graphs.add().CopyFrom(proto.meta_graphs[0])
    proto.meta_graphs[1].meta_info_def.tags.append("int8")


affine, counter, branches = Affine(), Counter(), Branches()
save("affine", affine, {"serving_default": affine.serve},
     [("serving_default", {"x": [1.0, 2.0, -3.0]}), ("serving_default", {"x": []})])
save("counter", counter, {"get": counter.get, "add": counter.add},
     [("get", {}), ("add", {"times": 2.0}), ("add", {"times": -0.5}), ("get", {})])
save("branches", branches, {"serving_default": branches.serve},
     [("serving_default", {"x": [1.0, 2.5], "flag": True}),
      ("serving_default", {"x": [1.0, 2.5], "flag": False})])
edit("text", "affine", lambda proto: None, text=True)
edit("tags", "affine", second_meta_graph)
