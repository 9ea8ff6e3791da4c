# SPDX-License-Identifier: Apache-2.0
"""train_test.py SLIPWAY: TensorBoard, TensorFlow and Keras read all that `slipway train` writes."""
import json
import os
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest

import keras
import numpy as np
import tensorflow as tf
from tensorboard.backend.event_processing import event_accumulator

SLIPWAY = os.path.abspath(sys.argv.pop(1))
EPOCHS, TRAINED_ON, HELD_OUT, TESTED_ON, BATCH = 2, 320, 80, 64, 32

RECIPE = """\
model:
  name: blobs
  seed: 1
  layers:
    - Flatten
    - Dense: {units: 16, activation: relu}
    - Dropout: 0.25
    - Dense: {units: 3, activation: softmax}
data:
  train_images: train-images
  train_labels: train-labels
  test_images: test-images
  test_labels: test-labels
  divide_by: 255
  validation: 80
compile:
  optimizer: {Adam: {learning_rate: 0.01}}
  loss: sparse_categorical_crossentropy
  metrics: [accuracy]
fit: {epochs: 2, batch_size: 32}
callbacks:
  - TensorBoard: logs
  - CSVLogger: log.csv
  - CurvesSvg: curves.svg
  - ModelCheckpoint: {filepath: "weights/{epoch}", save_weights_only: true}
  - ModelCheckpoint: {filepath: "best", save_best_only: true}
  - BackupAndRestore: {backup_dir: backup, delete_checkpoint: false}
save: saved/1
"""


def write_idx(path, array):
    with open(path, "wb") as f:
        f.write(struct.pack(">HBB", 0, 8, array.ndim) + struct.pack(f">{array.ndim}I", *array.shape))
        f.write(array.tobytes())


def make_data(folder):
    """Three kinds of blurred 5 x 6 images, easy to tell apart."""
    random = np.random.default_rng(3)
    kinds = random.uniform(0, 255, size=(3, 5, 6))
    for name, n in [("train", TRAINED_ON + HELD_OUT), ("test", TESTED_ON)]:
        labels = random.integers(0, 3, size=n).astype(np.uint8)
        images = np.clip(kinds[labels] + random.normal(0, 40, size=(n, 5, 6)), 0, 255)
        write_idx(os.path.join(folder, name + "-images"), images.astype(np.uint8))
        write_idx(os.path.join(folder, name + "-labels"), labels)
    return (images.astype(np.uint8) / np.float32(255)).astype(np.float32), labels


work = tempfile.TemporaryDirectory()
images, labels = make_data(work.name)
with open(os.path.join(work.name, "recipe.yaml"), "w") as recipe:
    recipe.write(RECIPE)
trained = subprocess.run([SLIPWAY, "train", "recipe.yaml"], cwd=work.name, text=True,
                         capture_output=True)
print(trained.stdout[-1500:], trained.stderr, sep="\n")
if trained.returncode:
    sys.exit(f"slipway train exited with {trained.returncode}")


def path(*names):
    return os.path.join(work.name, *names)


def scalars(folder):
    """tag -> [(step, value), …] as TensorBoard sees it."""
    events = event_accumulator.EventAccumulator(path("logs", folder),
                                                size_guidance={"tensors": 0, "scalars": 0})
    events.Reload()
    out = {tag: [(e.step, e.value) for e in events.Scalars(tag)]
           for tag in events.Tags()["scalars"]}
    for tag in events.Tags()["tensors"]:
        out[tag] = [(e.step, float(tf.make_ndarray(e.tensor_proto))) for e in events.Tensors(tag)]
        assert events.SummaryMetadata(tag).plugin_data.plugin_name == "scalars", tag
    return out


def logged():
    """The columns of the CSVLogger's file."""
    with open(path("log.csv")) as f:
        header, *rows = [line.strip().split(",") for line in f]
    return {name: [float(row[i]) for row in rows] for i, name in enumerate(header)}


def program_predicts(model, x):
    """What `slipway model run` answers for the first signature's only input and output."""
    np.save(path("x.npy"), x)
    name = next(iter(tf.saved_model.load(model).signatures["serving_default"]
                     .structured_input_signature[1]))
    with open(path("request.json"), "w") as f:
        json.dump({"inputs": {name: {"npy": "x.npy"}}}, f)
    subprocess.run([SLIPWAY, "model", "run", "--dir", model, "--request", path("request.json"),
                    "--response", path("response.json")], check=True)
    with open(path("response.json")) as f:
        (answer,) = json.load(f)["outputs"].values()
    return np.array(answer["values"], np.float32).reshape(answer["shape"])


class TensorBoard(unittest.TestCase):
    def test_training(self):
        seen = scalars("train")
        self.assertEqual(sorted(seen), ["epoch_accuracy", "epoch_learning_rate", "epoch_loss"])
        for tag, points in seen.items():
            self.assertEqual([step for step, _ in points], list(range(EPOCHS)), tag)
        np.testing.assert_allclose([v for _, v in seen["epoch_loss"]], logged()["loss"], rtol=1e-5)
        np.testing.assert_allclose([v for _, v in seen["epoch_learning_rate"]], 0.01, rtol=1e-6)

    def test_validation(self):
        seen = scalars("validation")
        self.assertEqual(sorted(seen), ["epoch_accuracy", "epoch_loss",
                                        "evaluation_accuracy_vs_iterations",
                                        "evaluation_loss_vs_iterations"])
        steps = TRAINED_ON // BATCH
        for tag, points in seen.items():
            wanted = [steps * (i + 1) for i in range(EPOCHS)] if "iterations" in tag \
                else list(range(EPOCHS))
            self.assertEqual([step for step, _ in points], wanted, tag)
        np.testing.assert_allclose([v for _, v in seen["epoch_loss"]], logged()["val_loss"],
                                   rtol=1e-5)


class SavedModel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.loaded = tf.saved_model.load(path("saved", "1"))
        cls.predictions = program_predicts(path("saved", "1"), images)

    def test_it_learned(self):
        self.assertGreater(np.mean(np.argmax(self.predictions, axis=1) == labels), 0.8)

    def test_call(self):
        np.testing.assert_allclose(self.loaded(images), self.predictions, atol=1e-5)
        np.testing.assert_allclose(self.loaded(images, training=False), self.predictions, atol=1e-5)

    def test_training_drops_out(self):
        one, two = self.loaded(images, training=True), self.loaded(images, training=True)
        self.assertGreater(np.abs(one - self.predictions).max(), 1e-3)
        self.assertGreater(np.abs(one - two).max(), 1e-3)
        np.testing.assert_allclose(np.sum(one, axis=1), 1, atol=1e-5)

    def test_variables(self):
        shapes = [v.shape.as_list() for v in self.loaded.trainable_variables]
        self.assertEqual(shapes, [[30, 16], [16], [16, 3], [3]])
        self.assertGreaterEqual(len(self.loaded.variables), 4)

    def test_signature(self):
        signature = self.loaded.signatures["serving_default"]
        (name, spec), = signature.structured_input_signature[1].items()
        self.assertEqual(spec.shape.as_list(), [None, 5, 6])
        (answer,) = signature(**{name: tf.constant(images)}).values()
        np.testing.assert_allclose(answer, self.predictions, atol=1e-5)

    def test_keras_layer(self):
        layer = keras.layers.TFSMLayer(path("saved", "1"), call_endpoint="serving_default")
        (answer,) = layer(images).values()
        np.testing.assert_allclose(answer, self.predictions, atol=1e-5)

    def test_checkpointed_model(self):
        np.testing.assert_allclose(tf.saved_model.load(path("best"))(images),
                                   program_predicts(path("best"), images), atol=1e-5)


class Checkpoints(unittest.TestCase):
    def test_weights(self):
        loaded = tf.saved_model.load(path("saved", "1"))
        reader = tf.train.load_checkpoint(path("weights", str(EPOCHS)))
        shapes = reader.get_variable_to_shape_map()
        for variable in loaded.trainable_variables:
            key = variable.name.split(":")[0]
            self.assertEqual(shapes[key], variable.shape.as_list())
            np.testing.assert_array_equal(reader.get_tensor(key), variable.numpy())

    def test_backup(self):
        latest = tf.train.latest_checkpoint(path("backup"))
        self.assertEqual(os.path.basename(latest), f"ckpt-{EPOCHS * (TRAINED_ON // BATCH)}")
        reader = tf.train.load_checkpoint(latest)
        self.assertEqual(int(reader.get_tensor("fit/epoch")), EPOCHS)
        np.testing.assert_array_equal(reader.get_tensor("fit/history/loss").shape, [EPOCHS])
        np.testing.assert_allclose(reader.get_tensor("fit/history/loss"), logged()["loss"], rtol=1e-5)
        self.assertTrue(any("adam" in key for key in reader.get_variable_to_shape_map()))


class Resume(unittest.TestCase):
    """Killed in mid-epoch and started again, with dropout and shuffling on: the same bits."""

    def command(self, name):
        # Each checkpoint is synced, so this takes long enough to be killed.
        backup = f"BackupAndRestore: {{backup_dir: {name}-backup, save_freq: 3}}"
        return [SLIPWAY, "train", "recipe.yaml", "--set=model.deterministic=true",
                "--set=fit.epochs=40", f"--set=callbacks=[{backup}, CSVLogger: {name}.csv]",
                f"--set=save={name}"]

    def read(self, *names):
        with open(path(*names), "rb") as f:
            return f.read()

    def test_same_bits(self):
        run = dict(cwd=work.name, stdout=subprocess.DEVNULL)
        subprocess.run(self.command("whole"), check=True, **run)
        killed = subprocess.Popen(self.command("killed"), **run)
        while killed.poll() is None and not os.path.exists(path("killed-backup", "checkpoint")):
            time.sleep(0.001)
        killed.kill()
        self.assertEqual(killed.wait(), -signal.SIGKILL, "it ended before it was killed")
        self.assertFalse(os.path.exists(path("killed")))
        subprocess.run(self.command("killed"), check=True, **run)
        for file in ["variables.index", "variables.data-00000-of-00001"]:
            self.assertEqual(self.read("killed", "variables", file),
                             self.read("whole", "variables", file))
        self.assertEqual(self.read("killed.csv").splitlines()[-1],
                         self.read("whole.csv").splitlines()[-1])


class Refusals(unittest.TestCase):
    def run_with(self, *settings):
        return subprocess.run([SLIPWAY, "train", "recipe.yaml", "--set", "save=never/1",
                               *[f"--set={s}" for s in settings]], cwd=work.name, text=True,
                              capture_output=True)

    def test_loss_that_is_no_number(self):
        result = self.run_with("compile.optimizer={SGD: {learning_rate: 1e38}}", "callbacks=[]")
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertIn("INVALID_ARGUMENT: recipe.yaml:", result.stderr)
        self.assertIn("the loss became", result.stderr)
        self.assertFalse(os.path.exists(path("never")))

    def test_missing_file(self):
        result = self.run_with("data.train_images=absent", "callbacks=[]")
        self.assertEqual(result.returncode, 1)
        self.assertIn("NOT_FOUND", result.stderr)
        self.assertIn("absent", result.stderr)

    def test_more_threads_than_there_can_be(self):
        result = subprocess.run([SLIPWAY, "train", "recipe.yaml", "--threads=1000000"],
                                cwd=work.name, text=True, capture_output=True)
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertIn("--threads is 1000000", result.stderr)

    def test_unknown_key(self):
        result = self.run_with("fit.epoch=3")
        self.assertEqual(result.returncode, 1)
        self.assertIn("did you mean 'epochs'?", result.stderr)


unittest.main(verbosity=1)
