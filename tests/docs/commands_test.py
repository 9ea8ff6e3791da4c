#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""commands_test.py SLIPWAY: the commands of README.md and docs/ do what they say.

Blocks that begin with "```sh run" are run, those of one page in one shell, in a copy of the project
where build/release/slipway is the program under test. Only the ports 8500 and 8501 are replaced, by
free ones. What a page starts in the background is ended with it.
"""
import glob
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile

SKIPPED = 77
DATA = "/usr/share/datasets/fashion-mnist"
root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
slipway = os.path.abspath(sys.argv[1])


def runnable_blocks(text):
    return re.findall(r"^```sh run\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def with_free_ports(script):
    ports = {}
    for port in sorted(set(re.findall(r"\b850[01]\b", script))):
        ports[port] = socket.socket()
        ports[port].bind(("127.0.0.1", 0))
    for port, held in ports.items():
        script = re.sub(rf"\b{port}\b", str(held.getsockname()[1]), script)
        held.close()
    return script


def run(page, blocks, scratch):
    """Whether the page's commands all succeed; says which did not."""
    ignored = shutil.ignore_patterns("build", ".git", "quickstart", "__pycache__")
    copy = os.path.join(scratch, page.replace("/", "_"))
    shutil.copytree(root, copy, ignore=ignored)
    os.makedirs(os.path.join(copy, "build", "release"))
    os.symlink(slipway, os.path.join(copy, "build", "release", "slipway"))
    script = "set -euo pipefail\nset -x\n" + with_free_ports("\n".join(blocks))
    log = os.path.join(scratch, "log")
    with open(log, "w") as out:
        shell = subprocess.Popen(["bash", "-c", script], cwd=copy, stdin=subprocess.DEVNULL,
                                 stdout=out, stderr=subprocess.STDOUT, start_new_session=True)
        try:
            status = shell.wait(timeout=600)
        except subprocess.TimeoutExpired:
            status = "none after 600 s"
        try:
            os.killpg(shell.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    print(f"{'ok' if status == 0 else 'FAILED'}: {page}, {len(blocks)} blocks", flush=True)
    if status != 0:
        with open(log, errors="replace") as f:
            print(f"exit status {status}\n{f.read()[-4000:]}")
    shutil.rmtree(copy, ignore_errors=True)
    return status == 0


if not os.path.isdir(DATA):
    print(f"SKIPPED: there is no {DATA}; Debian's package dataset-fashion-mnist has it")
    sys.exit(SKIPPED)
pages = ["README.md"] + sorted(os.path.relpath(p, root) for p in
                               glob.glob(os.path.join(root, "docs", "**", "*.md"), recursive=True))
ran, good = 0, True
with tempfile.TemporaryDirectory() as scratch:
    for page in pages:
        with open(os.path.join(root, page)) as f:
            blocks = runnable_blocks(f.read())
        if blocks:
            ran += 1
            good = run(page, blocks, scratch) and good
if ran < 3:
    sys.exit(f"only {ran} pages have commands that are marked 'sh run'")
sys.exit(0 if good else 1)
