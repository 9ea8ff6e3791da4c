#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes tests/golden/ops/*.jsonl: ops with inputs and what TensorFlow makes of them.

  python tools/make_op_cases.py [FAMILY...]

Needs TensorFlow. A family is a file of tools/op_cases; framework.py there says what a case is. The
cases of found.jsonl were found by tests/interop/op_fuzz_test.py and are appended to it by hand.
"""
import importlib
import pathlib
import sys

from op_cases import framework


def main():
    folder = pathlib.Path(__file__).resolve().parent / "op_cases"
    everything = sorted(path.stem for path in folder.glob("*.py") if path.stem != "framework")
    for name in sys.argv[1:] or everything:
        importlib.import_module(f"op_cases.{name}")
        framework.write_family(name)


if __name__ == "__main__":
    main()
