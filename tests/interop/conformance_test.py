# SPDX-License-Identifier: Apache-2.0
"""conformance_test.py SLIPWAY MISSING: the black-box suite for servers that replace
tensorflow_model_server, all of it but the cases that the file MISSING names, each with its reason.

SHARED/conformance/tfs holds the suite; skipped without it, or without what it imports. A case
that fails and is not named is a failure, and so is a name that the suite does not have, and a named
case that passes: then its line is to go.
"""
import importlib.util
import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

from shared import SHARED

SKIPPED = 77

slipway, list_of_missing = sys.argv[1:3]
suite = os.path.join(SHARED, "conformance", "tfs")
lacking = [m for m in ("requests", "yaml") if importlib.util.find_spec(m) is None]
if not os.path.exists(os.path.join(suite, "run.py")):
    print(f"SKIPPED: there is no {suite}/run.py")
    sys.exit(SKIPPED)
if lacking:
    print(f"SKIPPED: this Python lacks {' and '.join(lacking)}")
    sys.exit(SKIPPED)


def run_suite():
    """Name of each case -> why it failed, or None; what was skipped is left out."""
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "report.xml")
        subprocess.run([sys.executable, os.path.join(suite, "run.py"), "--server",
                        f"{slipway} serve", "--junit", report, "--patience", "3"],
                       stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        seen = {}
        for case in xml.etree.ElementTree.parse(report).iter("testcase"):
            if case.find("skipped") is not None:
                continue
            failure = case.find("failure")
            name = case.get("classname").removeprefix("tfs.") + "/" + case.get("name")
            seen[name] = None if failure is None else failure.get("message")
        return seen


with open(list_of_missing) as f:
    missing = {line.split("#")[0].strip() for line in f} - {""}
seen = run_suite()
problems = []
for name, failure in sorted(seen.items()):
    if failure is not None and name not in missing:
        problems.append(f"FAILED {name}: {failure[:300]}")
    if failure is None and name in missing:
        problems.append(f"{name} passes: take it out of {os.path.basename(list_of_missing)}")
problems += [f"{name}: the suite has no such case" for name in sorted(missing - set(seen))]
print("\n".join(problems))
passed = sum(failure is None for failure in seen.values())
print(f"{passed} passed, {len(seen) - passed} failed, {len(missing)} of them known")
sys.exit(1 if problems or not seen else 0)
