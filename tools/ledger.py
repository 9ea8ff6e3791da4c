#!/usr/bin/env python3
"""Prints one row for bench/ledger.tsv: what a release of work weighs.

    tools/ledger.py --build build/release [--cold-build-s S] [--rest-us U] [--grpc-us U] [--rss-mb M] [--step-ms T]

Sizes and line counts are taken from the tree and the build; what must be measured on a quiet machine is
handed in (bench/RESULTS.md says how each is measured).
"""
import argparse
import datetime
import os

COLUMNS = ["date", "binary_mb", "cold_build_s", "server_rss_mb", "rest_us", "grpc_us", "train_step_ms", "lines", "test_lines"]


def lines_below(folder, wanted):
    total = 0
    for path, _, names in os.walk(folder):
        for name in names:
            if name.endswith((".cc", ".h")) and wanted(name):
                with open(os.path.join(path, name), encoding="utf-8") as f:
                    total += sum(1 for _ in f)
    return total


def is_test(name):
    return name.endswith(("_test.cc", "_bench.cc")) or name.startswith(("test_", "testing")) or name.endswith("testing.h")


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--build", default="build/release")
    for flag in ("cold-build-s", "rest-us", "grpc-us", "rss-mb", "step-ms"):
        p.add_argument("--" + flag, default="")
    a = p.parse_args()
    root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
    src = os.path.join(root, "src")
    parts = sorted(d for d in os.listdir(src) if os.path.isdir(os.path.join(src, d)))
    per_part = {d: lines_below(os.path.join(src, d), lambda n: not is_test(n)) for d in parts}
    binary = os.path.join(root, a.build, "slipway")
    row = [datetime.date.today().isoformat(), f"{os.path.getsize(binary) / 1e6:.1f}", a.cold_build_s, a.rss_mb, a.rest_us, a.grpc_us, a.step_ms,
           " ".join(f"{d}:{n}" for d, n in per_part.items()), str(lines_below(src, is_test))]
    print("\t".join(COLUMNS))
    print("\t".join(row))


main()
