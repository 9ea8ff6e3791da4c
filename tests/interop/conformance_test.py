# SPDX-License-Identifier: Apache-2.0
"""conformance_test.py SLIPWAY GOLDEN CASES: the black-box suite for servers that replace
tensorflow_model_server, limited to the cases that the file CASES names.

SHARED/conformance/tfs holds the suite; skipped without it, or without what it imports. A case
that is named and does not pass, or is not there any more, is a failure.

Two things that Slipway cannot do yet are taken out of the way, for all cases alike:
- A file that configures models: each case gets a server with the one model that it asks for, without
  policy and labels.
- The suite's half_plus_two has signatures that parse tf.Example: GOLDEN/saved_models/affine, which
  also gives y = x / 2 + 2, stands in for it.
"""
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

from shared import SHARED

SKIPPED = 77
HALF_PLUS_TWO = {"saved_model_half_plus_two_cpu": ["00000123"],
                 "saved_model_half_plus_two_tf2_cpu": ["00000123"],
                 "saved_model_half_plus_two_2_versions": ["00000123", "00000124"]}

slipway, golden, list_of_cases = sys.argv[1:4]
suite = os.path.join(SHARED, "conformance", "tfs")
missing = [m for m in ("requests", "yaml") if importlib.util.find_spec(m) is None]
if not os.path.exists(os.path.join(suite, "run.py")):
    print(f"SKIPPED: there is no {suite}/run.py")
    sys.exit(SKIPPED)
if missing:
    print(f"SKIPPED: this Python lacks {' and '.join(missing)}")
    sys.exit(SKIPPED)
import yaml  # noqa: E402


def split_by_model(group):
    """The group's cases in groups of one model: the first that a case names, else the first."""
    server = group.get("server") or {}
    models = server.get("models") or []
    cases = {}
    for case in group["cases"]:
        text = yaml.safe_dump(case, width=10_000)
        named = set(re.findall(r"/v1/models/([^/:\s]+)|name: ?\\?\"([^\"\\]+)", text))
        named = {name.replace("%20", " ").replace("%2B", "+") for pair in named for name in pair}
        using = next((i for i, m in enumerate(models) if m["name"] in named), 0)
        cases.setdefault(using, []).append(case)
    for using, some in cases.items():
        plain = [{key: m[key] for key in ("name", "versions")} for m in models[using:using + 1]]
        one = dict(server, models=plain, config_file=False)
        yield dict(group, server=one, cases=some)


def prepare(folder):
    """The suite's cases, changed as said above, with their models beside them."""
    cases = os.path.join(folder, "cases")
    shutil.copytree(os.path.join(suite, "cases"), cases)
    for name in os.listdir(cases):
        if not name.endswith(".yaml"):
            continue
        with open(os.path.join(cases, name)) as f:
            groups = [group for group in yaml.safe_load_all(f) if group]
        with open(os.path.join(cases, name), "w") as f:
            yaml.safe_dump_all([one for g in groups for one in split_by_model(g)], f)
    affine = os.path.join(golden, "saved_models", "affine", "saved_model")
    for model, versions in HALF_PLUS_TWO.items():
        for version in versions:
            shutil.copytree(affine, os.path.join(folder, "models", model, version))
    return cases


def run_suite(wanted):
    """Name of each case run -> why it failed, or None."""
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "report.xml")
        command = [sys.executable, os.path.join(suite, "run.py"), "--cases", prepare(folder),
                   "--server", f"{slipway} serve", "--junit", report, "--patience", "3"]
        for case in sorted(wanted):
            command += ["--filter", case]
        subprocess.run(command, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        seen = {}
        for case in xml.etree.ElementTree.parse(report).iter("testcase"):
            problems = [case.find(kind) for kind in ("failure", "skipped")]
            problem = next((p.get("message") for p in problems if p is not None), None)
            seen[case.get("classname").removeprefix("tfs.") + "/" + case.get("name")] = problem
        return seen


with open(list_of_cases) as f:
    wanted = {line.split("#")[0].strip() for line in f} - {""}
seen = run_suite(wanted)
failed = 0
for name in sorted(wanted):
    problem = seen.get(name, "the suite has no such case")
    if problem is not None:
        print(f"FAILED {name}: {problem[:300]}")
        failed += 1
print(f"{len(wanted) - failed} passed, {failed} failed")
sys.exit(1 if failed or not wanted else 0)
