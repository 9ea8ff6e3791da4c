#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""applications_test.py SLIPWAY: models of keras.applications with random weights, saved by Keras 3
and by Keras 2 (tf_keras): `slipway model run` gives what Keras gives for one input.

One model of each family; all of them where SLIPWAY_ALL_APPLICATIONS is set. SLIPWAY_APPLICATIONS
names some instead, as in `keras.MobileNetV2,tf_keras.VGG16`.
"""
import os
import subprocess
import sys
import tempfile

import keras
import numpy as np
import tensorflow as tf
import tf_keras

# The smallest of each family and the side of its input: what its layers still admit.
FAMILIES = {
    "MobileNet": 64, "MobileNetV2": 64, "MobileNetV3Small": 64, "EfficientNetB0": 64,
    "EfficientNetV2B0": 64, "ResNet50": 64, "ResNet50V2": 64, "DenseNet121": 64, "VGG16": 32,
    "InceptionV3": 75, "InceptionResNetV2": 75, "Xception": 71, "NASNetMobile": 64,
    "ConvNeXtTiny": 64, "RegNetX002": 64, "RegNetY002": 64, "ResNetRS50": 64}
OTHERS = {
    "MobileNetV3Large": 64, "EfficientNetB1": 64, "EfficientNetB2": 64, "EfficientNetB3": 64,
    "EfficientNetB4": 64, "EfficientNetV2B1": 64, "EfficientNetV2B2": 64, "EfficientNetV2B3": 64,
    "EfficientNetV2S": 64, "ResNet101": 64, "ResNet152": 64, "ResNet101V2": 64, "ResNet152V2": 64,
    "DenseNet169": 64, "DenseNet201": 64, "VGG19": 32, "NASNetLarge": 64, "ConvNeXtSmall": 64,
    "ConvNeXtBase": 64, "RegNetX004": 64, "RegNetX006": 64, "RegNetY004": 64, "RegNetY006": 64,
    "ResNetRS101": 64}


def chosen():
    """(library, model) by name."""
    named = os.environ.get("SLIPWAY_APPLICATIONS")
    if named:
        return [tuple(name.split(".")) for name in named.split(",")]
    names = list(FAMILIES)
    if not os.environ.get("SLIPWAY_ALL_APPLICATIONS"):  # Keras 3 and 2 in turn
        return [(("keras", "tf_keras")[i % 2], name) for i, name in enumerate(names)]
    names += OTHERS
    return [(library, name) for name in names for library in ("keras", "tf_keras")]


def scatter_weights(model):
    """Fresh statistics (mean 0, variance 1) and biases of 0 would hide what reads them."""
    random = np.random.default_rng(1)
    for weight in model.weights:
        value = np.asarray(weight)
        if value.ndim == 1 and value.dtype == np.float32:
            weight.assign(value + random.uniform(0, 0.1, value.shape).astype(np.float32))


def save(library, model, folder):
    if library == "keras":
        model.export(folder, verbose=False)
    else:
        tf.saved_model.save(model, folder)


def compare(slipway, library, name, folder):
    """What is wrong, or None."""
    module = {"keras": keras, "tf_keras": tf_keras}[library]
    make = getattr(module.applications, name, None)
    if make is None:
        return None  # this version of the library has no such model
    module.backend.clear_session()
    side = {**FAMILIES, **OTHERS}[name]
    model = make(weights=None, input_shape=(side, side, 3), classes=10)
    scatter_weights(model)
    saved = os.path.join(folder, "model")
    save(library, model, saved)
    images = np.random.default_rng(2).uniform(0, 255, (1, side, side, 3)).astype(np.float32)
    serve = tf.saved_model.load(saved).signatures["serving_default"]
    [key] = serve.structured_input_signature[1]
    [(output, want)] = serve(**{key: tf.constant(images)}).items()
    np.save(os.path.join(folder, "in.npy"), images)
    run = subprocess.run(
        [slipway, "model", "run", "--dir", saved, "--tag_set", "serve", "--signature_def",
         "serving_default", "--inputs", f"{key}={folder}/in.npy", "--outdir", folder],
        capture_output=True, text=True)
    if run.returncode != 0:
        return run.stderr.strip()
    got = np.load(os.path.join(folder, output + ".npy"))
    worst = float(np.abs(got - want.numpy()).max()) if got.shape == want.shape else np.inf
    return None if worst < 1e-4 else f"differs by {worst}: {got}, wanted {want.numpy()}"


def main():
    slipway, failed = sys.argv[1], []
    for library, name in chosen():
        with tempfile.TemporaryDirectory() as folder:
            problem = compare(slipway, library, name, folder)
        print(f"{library}.{name}: {problem or 'agrees'}", flush=True)
        if problem:
            failed.append(f"{library}.{name}")
    if failed:
        sys.exit("disagree: " + ", ".join(failed))


main()
