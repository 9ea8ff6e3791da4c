# SPDX-License-Identifier: Apache-2.0
"""models_test.py SLIPWAY NAME...: `slipway model run` gives what TensorFlow gave for the cases
of SHARED/models/NAME, and refuses the broken models in SHARED/models/bad. Skipped without them."""
import os
import subprocess
import sys

from shared import SHARED

SKIPPED = 77
slipway, *names = sys.argv[1:]
check = os.path.join(SHARED, "models", "check.py")
if not os.path.exists(check):
    print(f"SKIPPED: there is no {check}")
    sys.exit(SKIPPED)
absent = [name for name in names if not os.path.isdir(os.path.join(SHARED, "models", name))]
if absent:
    sys.exit(f"there is no {', '.join(absent)} in {SHARED}/models")
sys.exit(subprocess.run([sys.executable, check, "--slipway", slipway, *names]).returncode)
