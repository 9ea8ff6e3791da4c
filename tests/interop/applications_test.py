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

# The smallest of each family.
FAMILIES = ["MobileNet", "MobileNetV2", "MobileNetV3Small", "EfficientNetB0", "EfficientNetV2B0", "ResNet50",
            "ResNet50V2", "DenseNet121", "VGG16", "InceptionV3", "InceptionResNetV2", "Xception", "NASNetMobile",
            "ConvNeXtTiny", "RegNetX002", "RegNetY002", "ResNetRS50"]
LIBRARIES = {"keras": keras, "tf_keras": tf_keras}


def chosen():
    """(library, model) by name; Keras 3 lacks some that Keras 2 has."""
    named = os.environ.get("SLIPWAY_APPLICATIONS")
    if named:
        return [tuple(name.split(".")) for name in named.split(",")]
    if not os.environ.get("SLIPWAY_ALL_APPLICATIONS"):  # Keras 3 and 2 in turn
        both = [[library for library, module in LIBRARIES.items() if hasattr(module.applications, name)]
                for name in FAMILIES]
        return [(have[i % len(have)], name) for i, (have, name) in enumerate(zip(both, FAMILIES))]
    return [(library, name) for library, module in LIBRARIES.items()
            for name in dir(module.applications) if name[0].isupper()]


def input_side(name):
    """The smallest image that the layers of the model admit."""
    sides = {"VGG": 32, "Inception": 75, "Xception": 71}
    return next((side for start, side in sides.items() if name.startswith(start)), 64)


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
    module = LIBRARIES[library]
    make = getattr(module.applications, name)
    module.backend.clear_session()
    side = input_side(name)
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
