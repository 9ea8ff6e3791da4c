#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a test under a Python that has TensorFlow, TensorBoard and tensorflow-serving-api.

  with_python.py BUILD_DIR SCRIPT [ARGUMENT...]

The Python is $SLIPWAY_INTEROP_PYTHON, or the virtual environment BUILD_DIR/../interop-venv, which is
made from requirements.txt when it is missing or older than that file. If it cannot be made (no
network, no pip) this says so and exits with 77, which ctest reports as skipped.
"""
import fcntl
import hashlib
import os
import subprocess
import sys
import venv

SKIPPED = 77
here = os.path.dirname(os.path.abspath(__file__))


def make_environment(folder):
    """The folder's interpreter; raises if it cannot be had."""
    requirements = os.path.join(here, "requirements.txt")
    wanted = hashlib.sha256(open(requirements, "rb").read()).hexdigest()
    python = os.path.join(folder, "bin", "python")
    stamp = os.path.join(folder, "requirements.sha256")
    os.makedirs(os.path.dirname(folder), exist_ok=True)
    with open(folder + ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # tests run in parallel, one installs
        if os.path.exists(stamp) and open(stamp).read() == wanted:
            return python
        print(f"setting up {folder} from {requirements}", flush=True)
        venv.create(folder, with_pip=True, clear=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
                        "-r", requirements], check=True)
        with open(stamp, "w") as f:
            f.write(wanted)
    return python


def main():
    build, script, arguments = sys.argv[1], sys.argv[2], sys.argv[3:]
    python = os.environ.get("SLIPWAY_INTEROP_PYTHON")
    if not python:
        try:
            python = make_environment(os.path.join(os.path.dirname(os.path.abspath(build)),
                                                   "interop-venv"))
        except (OSError, subprocess.CalledProcessError) as e:
            print(f"SKIPPED: no Python with TensorFlow ({e}); set SLIPWAY_INTEROP_PYTHON to one")
            sys.exit(SKIPPED)
    environment = dict(os.environ, TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="")
    sys.exit(subprocess.run([python, script] + arguments, env=environment).returncode)


main()
