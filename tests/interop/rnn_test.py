#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""rnn_test.py SLIPWAY: recurrent layers in every flavour, exported by Keras 3 and by Keras 2, give in
`slipway model run` what they give in TensorFlow, call after call.

Some of them; all where SLIPWAY_ALL_RNNS is set (minutes, most of them Keras's)."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import keras
import numpy as np
import tensorflow as tf
import tf_keras

ROWS, STEPS, FEATURES, UNITS = 2, 6, 3, 4
# What a layer may be made with; some hide the fast path, some reach functions of their own.
FLAVOURS = {
    "plain": {}, "sequences": {"return_sequences": True}, "state": {"return_state": True},
    "backwards": {"go_backwards": True}, "backwards_sequences": {"go_backwards": True, "return_sequences": True},
    "unrolled": {"unroll": True}, "relu": {"activation": "relu"}, "no_bias": {"use_bias": False},
    "recurrent_dropout": {"recurrent_dropout": 0.5}}
CELLS = {"SimpleRNN": {}, "LSTM": {"no_forget_bias": {"unit_forget_bias": False}},
         "GRU": {"reset_before": {"reset_after": False}}}
LIBRARIES = {"keras3": keras, "keras2": tf_keras}


def branches(library, cell, x):
    """Name -> output, of all flavours on one input; half of them with a mask."""
    layers = library.layers
    make = getattr(layers, cell)
    masked = layers.Masking(0.0)(x)
    out = {}
    for name, options in {**FLAVOURS, **CELLS[cell]}.items():
        for source, value in (("", x), ("masked_", masked)):
            out[source + name] = make(UNITS, **options)(value)
    for merge in ("sum", "mul", "ave", "concat", None):
        out[f"both_ways_{merge}"] = layers.Bidirectional(make(UNITS, return_sequences=True), merge_mode=merge)(masked)
    out["cells"] = layers.RNN([getattr(layers, cell + "Cell")(UNITS), layers.GRUCell(2)])(masked)
    out["zero_for_masked"] = layers.RNN(getattr(layers, cell + "Cell")(UNITS), return_sequences=True,
                                        zero_output_for_mask=True)(masked)
    return {f"{name}_{i}": tensor for name, value in out.items() for i, tensor in enumerate(tf.nest.flatten(value))}


def stateful(library, cell, x):
    layers = library.layers
    make = getattr(layers, cell)
    hidden = make(UNITS, stateful=True, return_sequences=True)(x)
    return {"first": hidden, "second": make(UNITS, stateful=True, go_backwards=True)(hidden)}


def inputs():
    """Three calls; rows end in masked steps, begin with them, have them inside or nothing else."""
    random = np.random.default_rng(3)
    calls = [random.normal(size=(ROWS, STEPS, FEATURES)).astype(np.float32) for _ in range(3)]
    calls[0][0, 4:] = 0
    calls[0][1, :2] = 0
    calls[1][0, 2:4] = 0
    calls[1][1] = 0
    return calls


def export(library, model, folder):
    if library is keras:
        model.export(folder, verbose=False)
    else:
        tf.saved_model.save(model, folder)


def run(slipway, folder, key, calls):
    """The outputs of each call by name."""
    steps = [{"inputs": {key: {"dtype": "DT_FLOAT", "shape": list(x.shape), "values": x.reshape(-1).tolist()}}}
             for x in calls]
    request, response = folder / "request.json", folder / "response.json"
    request.write_text(json.dumps({"steps": steps}))
    done = subprocess.run([slipway, "model", "run", "--dir", folder / "model", "--request", request, "--response",
                           response], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return [{name: np.array(value["values"], np.float32).reshape(value["shape"])
             for name, value in step["outputs"].items()} for step in json.loads(response.read_text())["steps"]]


class RecurrentLayers(unittest.TestCase):
    def check(self, library, cell, build, rows):
        module = LIBRARIES[library]
        module.backend.clear_session()
        module.utils.set_random_seed(7)
        x = module.Input((STEPS, FEATURES), batch_size=rows, name="x")
        model = module.Model(x, build(module, cell, x))
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            export(module, model, folder / "model")
            serve = tf.saved_model.load(folder / "model").signatures["serving_default"]
            [key] = serve.structured_input_signature[1]
            wants = [serve(**{key: tf.constant(call)}) for call in inputs()]
            gots = run(SLIPWAY, folder, key, inputs())
        for call, (want, got) in enumerate(zip(wants, gots, strict=True)):
            self.assertEqual(sorted(want), sorted(got))
            for output in want:
                np.testing.assert_allclose(got[output], want[output], rtol=1e-4, atol=1e-5,
                                           err_msg=f"call {call}, output {output}")


SOME = {("keras3", "LSTM", branches), ("keras3", "GRU", stateful), ("keras2", "LSTM", stateful),
        ("keras2", "SimpleRNN", stateful)}
for library_ in LIBRARIES:
    for cell_ in CELLS:
        for build_, rows_ in ((branches, None), (stateful, ROWS)):
            if (library_, cell_, build_) not in SOME and not os.environ.get("SLIPWAY_ALL_RNNS"):
                continue

            def test(self, arguments=(library_, cell_, build_, rows_)):
                self.check(*arguments)
            setattr(RecurrentLayers, f"test_{library_}_{cell_}_{build_.__name__}", test)

SLIPWAY = sys.argv.pop(1)
unittest.main()
