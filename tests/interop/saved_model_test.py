# SPDX-License-Identifier: Apache-2.0
"""saved_model_test.py WRITE_INTEROP_MODELS: TensorFlow and Keras load the SavedModels we write."""
import contextlib
import io
import os
import subprocess
import sys
import tempfile
import unittest

import keras
import numpy as np
import tensorflow as tf
from tensorflow.python.tools import saved_model_cli

WRITER = os.path.abspath(sys.argv.pop(1))
folder = tempfile.TemporaryDirectory()
subprocess.run([WRITER, folder.name], check=True)


def path(name):
    return os.path.join(folder.name, name)


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def mlp(x, training):
    """The model `mlp` in NumPy."""
    steps = lambda n, start, step: (start + step * np.arange(n)).astype(np.float32)
    hidden = np.maximum(x @ steps(20, -0.5, 0.07).reshape(4, 5) + steps(5, 0.1, -0.05), 0)
    hidden = hidden * 2 if training else hidden
    return softmax(hidden @ steps(15, 0.4, -0.06).reshape(5, 3) + steps(3, 0.0, 0.1))


x = np.random.default_rng(0).normal(size=(7, 4)).astype(np.float32)


class Mlp(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.loaded = tf.saved_model.load(path("mlp"))

    def test_call(self):
        np.testing.assert_allclose(self.loaded(x), mlp(x, False), atol=1e-5)
        np.testing.assert_allclose(self.loaded(x[:1]), mlp(x[:1], False), atol=1e-5)

    def test_training_argument(self):
        np.testing.assert_allclose(self.loaded(x, training=True), mlp(x, True), atol=1e-5)
        np.testing.assert_allclose(self.loaded(x, training=False), mlp(x, False), atol=1e-5)
        np.testing.assert_allclose(self.loaded(x, True), mlp(x, True), atol=1e-5)

    def test_signature(self):
        signature = self.loaded.signatures["serving_default"]
        result = signature(image=tf.constant(x))
        self.assertEqual(list(result), ["probabilities"])
        np.testing.assert_allclose(result["probabilities"], mlp(x, False), atol=1e-5)
        self.assertEqual(signature.structured_input_signature[1]["image"].shape.as_list(), [None, 4])

    def test_variables(self):
        names = ["dense/kernel", "dense/bias", "dense_1/kernel", "dense_1/bias"]
        self.assertEqual([v.name for v in self.loaded.variables], [n + ":0" for n in names])
        self.assertEqual([v.name for v in self.loaded.trainable_variables],
                         [n + ":0" for n in names[:3]])
        self.assertEqual([v.trainable for v in self.loaded.variables], [True, True, True, False])
        self.assertIs(self.loaded.layers[1].bias, self.loaded.variables[3])
        np.testing.assert_allclose(self.loaded.variables[1], 0.1 - 0.05 * np.arange(5), atol=1e-6)

    def test_variable_can_be_changed(self):
        loaded = tf.saved_model.load(path("mlp"))
        loaded.variables[2].assign(tf.zeros([5, 3]))
        np.testing.assert_allclose(loaded(x)[0], softmax(np.array([0.0, 0.1, 0.2])), atol=1e-5)

    def test_gradients(self):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(self.loaded(x, training=True)[:, 0])
        gradients = tape.gradient(loss, self.loaded.trainable_variables)
        self.assertTrue(all(g is not None for g in gradients))

    def test_keras_layer(self):
        layer = keras.layers.TFSMLayer(path("mlp"), call_endpoint="serving_default")
        np.testing.assert_allclose(layer(x)["probabilities"], mlp(x, False), atol=1e-5)
        self.assertEqual(len(layer.weights), 4)
        self.assertEqual(len(layer.trainable_weights), 3)
        model = keras.Sequential([keras.Input((4,)), layer])
        np.testing.assert_allclose(model.predict(x, verbose=0)["probabilities"], mlp(x, False),
                                   atol=1e-5)

    def test_saved_model_cli(self):
        text = io.StringIO()
        with contextlib.redirect_stdout(text):
            saved_model_cli._show_all(path("mlp"))
        for line in ["signature_def['serving_default']:", "shape: (-1, 4)",
                     "name: serving_default_image:0", "Function Name: '__call__'"]:
            self.assertIn(line, text.getvalue())
        self.assertNotIn("N/A", text.getvalue())

    def test_checkpoint(self):
        reader = tf.train.load_checkpoint(path("mlp/variables/variables"))
        key = "layers/0/kernel/.ATTRIBUTES/VARIABLE_VALUE"
        self.assertEqual(reader.get_variable_to_shape_map()[key], [4, 5])
        loaded = tf.saved_model.load(path("mlp"))
        loaded.variables[0].assign(tf.zeros([4, 5]))
        status = tf.train.Checkpoint(loaded).read(path("mlp/variables/variables"))
        status.assert_existing_objects_matched()
        self.assertAlmostEqual(float(loaded.variables[0][0, 0]), -0.5, places=6)

    def test_session(self):
        with tf.compat.v1.Session(graph=tf.Graph()) as session:
            meta = tf.compat.v1.saved_model.load(session, ["serve"], path("mlp"))
            info = meta.signature_def["serving_default"]
            result = session.run(info.outputs["probabilities"].name,
                                 {info.inputs["image"].name: x})
        np.testing.assert_allclose(result, mlp(x, False), atol=1e-5)

    def test_saved_again_by_tensorflow(self):
        with tempfile.TemporaryDirectory() as again:
            tf.saved_model.save(self.loaded, again, signatures=self.loaded.signatures)
            np.testing.assert_allclose(tf.saved_model.load(again)(x), mlp(x, False), atol=1e-5)

    def test_fingerprint(self):
        fingerprint = tf.saved_model.experimental.read_fingerprint(path("mlp"))
        self.assertNotEqual(fingerprint.saved_model_checksum, 0)

    def test_equal_models_give_equal_bytes(self):
        for base, _, files in os.walk(path("mlp")):
            for name in files:
                one = os.path.join(base, name)
                other = one.replace(path("mlp"), path("mlp_again"), 1)
                with open(one, "rb") as a, open(other, "rb") as b:
                    self.assertEqual(a.read(), b.read(), name)


class Several(unittest.TestCase):
    def test_call(self):
        loaded = tf.saved_model.load(path("several"))
        z, n = tf.constant([1.0, -2.0]), tf.constant(4)
        scaled, following = loaded(z, n)
        np.testing.assert_allclose(scaled, [3.0, -6.0])
        self.assertEqual(int(following), 5)
        loaded(z, n, training=True)
        loaded(z, n, training=True)
        self.assertEqual(float(loaded.steps), 2.0)

    def test_signatures(self):
        loaded = tf.saved_model.load(path("several"))
        result = loaded.signatures["serving_default"](z=tf.constant([2.0]), a=tf.constant(1))
        self.assertEqual(sorted(result), ["count", "y"])
        np.testing.assert_allclose(result["y"], [6.0])
        self.assertEqual(int(result["count"]), 2)
        again = loaded.signatures["again"](first=tf.constant([2.0]), second=tf.constant(1))
        np.testing.assert_allclose(again["p"], [6.0])
        self.assertEqual(int(again["q"]), 2)


class Calls(unittest.TestCase):
    def test_call(self):
        loaded = tf.saved_model.load(path("calls"))
        np.testing.assert_allclose(loaded(tf.constant([[3.0]])), [[1.5]])
        np.testing.assert_allclose(loaded.signatures["serving_default"](x=tf.constant(3.0))["y"],
                                   1.5)


unittest.main(verbosity=1)
