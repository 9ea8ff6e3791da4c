#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes tests/golden/training: small cases of layers, losses, metrics, optimizers, initialisers and
whole fits, with the numbers that Keras gives. One JSON file a case, tensors written out in it.

    python tools/make_training_cases.py        # needs TensorFlow and Keras 3
"""
import json
import os
import pathlib

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"

import keras  # noqa: E402
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402
from keras import initializers, layers, losses, metrics, optimizers  # noqa: E402

OUT = pathlib.Path(__file__).resolve().parent.parent / "tests" / "golden" / "training"


def put(value):
    array = np.asarray(value)
    return {"dtype": str(array.dtype), "shape": list(array.shape), "values": array.reshape(-1).tolist()}


def config_of(thing):
    return keras.saving.serialize_keras_object(thing)


def write(group, name, doc):
    doc = {"group": group, "name": name, "rtol": 1e-5, "atol": 1e-6, **doc}
    path = OUT / group / (name + ".json")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(doc, indent=1) + "\n")


def random(shape, seed, low=-1.0, high=1.0):
    return np.random.default_rng(seed).uniform(low, high, shape).astype(np.float32)


def make_layer(name, layer, x):
    x = tf.constant(x)
    layer(x)
    doc = {"kind": "layer", "input_spec": "single", "layer": config_of(layer), "inputs": put(x),
           "weights": [{"path": v.path, "trainable": v.trainable, "value": put(v)} for v in layer.variables]}
    doc["expect"] = {"inference": {"outputs": [put(layer(x, training=False))]}}
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = layer(x, training=True)
        upstream = random(y.shape, 9)
        total = tf.reduce_sum(y * upstream)
    weights = layer.trainable_variables
    gradients = tape.gradient(total, [x] + [w.value for w in weights])
    call = {"outputs": [put(y)], "upstream": [put(upstream)], "gradients": {
        "inputs": put(gradients[0]), "weights": {w.path: put(g) for w, g in zip(weights, gradients[1:])}}}
    state = {v.path: put(v) for v in layer.non_trainable_variables}
    doc["expect"]["training"] = {"calls": [call], "state_after": state}
    write("layers", name, doc)


def make_loss(name, loss, y_true, y_pred, weight=None):
    y_pred = tf.constant(y_pred)
    with tf.GradientTape() as tape:
        tape.watch(y_pred)
        value = loss(y_true, y_pred, sample_weight=weight)
    write("losses", name, {
        "kind": "loss", "loss": config_of(loss), "y_true": put(y_true), "y_pred": put(y_pred), "mask": None,
        "sample_weight": None if weight is None else put(weight),
        "expect": {"value": put(value), "upstream": put(np.float32(1)),
                   "gradient_y_pred": put(tape.gradient(value, y_pred))}})


def make_metric(name, metric, y_true, y_pred):
    results = []
    for labels, predictions in zip(y_true, y_pred):
        metric.update_state(labels, predictions)
        results.append(float(metric.result()))
    write("metrics", name, {
        "kind": "metric", "metric": config_of(metric), "y_true": put(y_true), "y_pred": put(y_pred),
        "sample_weight": None,
        "expect": {"results": results, "state": [{"name": v.name, "value": put(v)} for v in metric.variables]}})


def make_optimizer(name, optimizer, steps=4):
    config = config_of(optimizer)
    variables = [keras.Variable(random((2, 3), 1), name="kernel"), keras.Variable(random((3,), 2), name="bias")]
    gradients = [random((steps, *v.shape), 3 + i) for i, v in enumerate(variables)]
    docs = [{"name": v.name, "initial": put(v), "gradients": put(g)} for v, g in zip(variables, gradients)]
    after = [[] for _ in variables]
    for step in range(steps):
        optimizer.apply([tf.constant(g[step]) for g in gradients], variables)
        for values, v in zip(after, variables):
            values.append(np.array(v))
    for doc, values in zip(docs, after):
        doc["after_each_step"] = put(np.stack(values))
    write("optimizers", name, {"kind": "optimizer", "optimizer": config, "steps": steps, "variables": docs,
                               "expect": {"slots": {v.path: put(v) for v in optimizer.variables}}})


def make_initializer(name, initializer, shape):
    write("initializers", name, {"kind": "initializer", "initializer": config_of(initializer),
                                 "expect": {"values": put(initializer(shape))}})


def make_fit(name, network, settings, **fit):
    config = keras.Sequential(network).get_config()
    keras.backend.clear_session()  # names are counted from the start, as a reader of the config does
    keras.utils.set_random_seed(5)
    model = keras.Sequential.from_config(config)
    optimizer_config = config_of(settings["optimizer"])
    model.compile(**settings)
    x = random((18, 4), 6)
    y = np.random.default_rng(7).integers(0, 3, 18).astype(np.int32)
    doc = {"kind": "fit", "rtol": 2e-4, "atol": 1e-5, "x": put(x), "y": put(y), "sample_weight": None, "fit": fit,
           "callbacks": [], "model": config_of(model),
           "compile": {"optimizer": optimizer_config, "loss": config_of(settings["loss"]),
                       "metrics": settings["metrics"]},
           "weights": [{"path": v.path, "trainable": v.trainable, "value": put(v)} for v in model.variables]}
    history = model.fit(x, y, verbose=0, **fit)
    doc["expect"] = {"history": history.history, "epochs": history.epoch,
                     "weights": {v.path: put(v) for v in model.variables},
                     "optimizer_slots": {v.path: put(v) for v in model.optimizer.variables},
                     "outputs": put(model(x, training=False)),
                     "evaluate": model.evaluate(x, y, batch_size=4, verbose=0, return_dict=True)}
    write("fit", name, doc)


def main():
    make_layer("golden_dense_relu", layers.Dense(3, activation="relu"), random((4, 5), 0))
    make_layer("golden_dense_rank3", layers.Dense(2, activation="tanh"), random((2, 3, 4), 0))
    make_layer("golden_dropout", layers.Dropout(0.3, seed=11), random((3, 4), 0))
    make_layer("golden_flatten", layers.Flatten(), random((2, 2, 3), 0))
    make_layer("golden_rescaling", layers.Rescaling(0.5, offset=-1.0), random((2, 3), 0))
    make_layer("golden_softmax", layers.Activation("softmax"), random((2, 4), 0, -30, 30))

    logits = random((4, 3), 1, -4, 4)
    probabilities = tf.nn.softmax(logits).numpy()
    labels = np.array([0, 2, 1, 2], np.int32)
    one_hot = np.eye(3, dtype=np.float32)[labels]
    make_loss("golden_sparse_logits", losses.SparseCategoricalCrossentropy(from_logits=True), labels, logits)
    make_loss("golden_sparse", losses.SparseCategoricalCrossentropy(), labels, probabilities)
    make_loss("golden_categorical_smoothing", losses.CategoricalCrossentropy(label_smoothing=0.1), one_hot,
              probabilities)
    make_loss("golden_mse_weighted", losses.MeanSquaredError(), random((4, 3), 2), logits, random((4,), 3, 0, 2))

    batches = np.stack([probabilities, probabilities[::-1]])
    make_metric("golden_sparse_accuracy", metrics.SparseCategoricalAccuracy(), np.stack([labels, labels]), batches)
    make_metric("golden_categorical_accuracy", metrics.CategoricalAccuracy(), np.stack([one_hot, one_hot]), batches)

    make_optimizer("golden_sgd", optimizers.SGD(0.1))
    make_optimizer("golden_sgd_nesterov", optimizers.SGD(0.1, momentum=0.9, nesterov=True))
    make_optimizer("golden_adam", optimizers.Adam(0.01))
    make_optimizer("golden_adam_decay_clipnorm", optimizers.Adam(0.01, weight_decay=0.02, clipnorm=0.5))

    make_initializer("golden_glorot_uniform", initializers.GlorotUniform(seed=1), (3, 4))
    make_initializer("golden_he_normal", initializers.HeNormal(seed=2), (5, 2))
    make_initializer("golden_random_normal", initializers.RandomNormal(seed=3), (7,))

    make_fit("golden_sgd", [keras.Input((4,)), layers.Dense(6, activation="relu"), layers.Dense(3, activation="softmax")],
             dict(optimizer=optimizers.SGD(0.1), loss=losses.SparseCategoricalCrossentropy(), metrics=["accuracy"]),
             epochs=3, batch_size=4, shuffle=False, validation_split=0.3)
    make_fit("golden_adam_dropout",
             [keras.Input((4,)), layers.Dense(6, activation="relu"), layers.Dropout(0.4, seed=3), layers.Dense(3)],
             dict(optimizer=optimizers.Adam(0.02), loss=losses.SparseCategoricalCrossentropy(from_logits=True),
                  metrics=["accuracy"]), epochs=2, batch_size=5, shuffle=False)


if __name__ == "__main__":
    main()
