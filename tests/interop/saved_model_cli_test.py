# SPDX-License-Identifier: Apache-2.0
"""saved_model_cli_test.py SLIPWAY GOLDEN: `slipway model show` prints what saved_model_cli prints, for
the golden models and the reference models in SHARED/models; `model run` writes the same outputs.

Python prints a set and the keys of a dictionary in an order that changes from run to run, and numbers
the traces of a function by counters of the process that loaded it: these are compared without order.
"""
import contextlib
import glob
import io
import os
import re
import subprocess
import sys
import tempfile
import unittest

import numpy as np
from tensorflow.python.saved_model import load  # noqa: F401  (what saved_model_cli needs loaded)
from tensorflow.python.tools import saved_model_cli

from shared import SHARED

slipway, golden = sys.argv[1], sys.argv[2]
REFERENCE = ["bert_tiny", "cnn_small", "cnn_small_keras2", "counter", "counter_v1", "custom_assets",
             "feature_columns_keras2", "half_plus_two_tf2", "multi_io_keras3", "no_signatures",
             "ragged_ops", "rnn_stateful", "signatures_many", "text_classifier", "two_metagraphs",
             "train_signature", "wide_deep_example"]
models = [os.path.join(golden, "saved_models", name, "saved_model")
          for name in ["affine", "branches", "counter", "graph_v1", "lists", "tags", "text"]]
models += [d for d in (os.path.join(SHARED, "models", name, "saved_model") for name in REFERENCE)
           if os.path.isdir(d)]


def ours(command, *arguments):
    result = subprocess.run([slipway, "model", command, *arguments], capture_output=True, text=True)
    return result.stdout if result.returncode == 0 else f"exit {result.returncode}: {result.stderr}"


def theirs(function, *arguments):
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        function(*arguments)
    return text.getvalue()


def elements(text):
    """What stands between the commas of a list, those in brackets of its own left alone."""
    parts, depth, part = [], 0, ""
    for c in text:
        depth += (c in "([{") - (c in ")]}")
        if c == "," and depth == 0:
            parts.append(part.strip())
            part = ""
        else:
            part += c
    return parts + [part.strip()]


def without_order(line):
    found = re.match(r"(.*)\{(.*)\}$", line)
    return found.group(1) + " ".join(sorted(elements(found.group(2).rstrip("\b")))) if found else line


def normal(text):
    """The text with its sets sorted, the traces of each function sorted and without their numbers."""
    lines = [without_order(line) for line in text.split("\n")]
    functions = re.split(r"(?=\n  Function Name: )", "\n".join(lines).rstrip("\n"))
    for i, function in enumerate(functions):
        head, *options = re.split(r"\n    Option #\d+\n", function)
        options = [re.sub(r"(Named Argument #)\d+\n", r"\1\n", option) for option in options]
        functions[i] = [head.rstrip()] + sorted(option.rstrip() for option in options)
    return functions


class Show(unittest.TestCase):
    maxDiff = None

    def test_all(self):
        for model in models:
            with self.subTest(model):
                want = theirs(saved_model_cli._show_all, model)
                # There, a model that Python cannot load has no list of functions.
                got = ours("show", "--dir", model, "--all")
                if "Concrete Functions: N/A" in want:
                    want = want[:want.index("\nConcrete Functions:")]
                    got = got[:got.index("\nConcrete Functions:")]
                self.assertEqual(normal(got), normal(want))

    def test_parts(self):
        for model in models:
            with self.subTest(model):
                self.assertEqual(ours("show", "--dir", model),
                                 theirs(saved_model_cli._show_tag_sets, model))
                tags = re.findall(r"^'(.*)'$", ours("show", "--dir", model), re.MULTILINE)
                for tag_set in (t.replace(", ", ",") for t in tags):
                    self.check_meta_graph(model, tag_set)

    def check_meta_graph(self, model, tag_set):
        keys = theirs(saved_model_cli._show_signature_def_map_keys, model, tag_set)
        self.assertEqual(ours("show", "--dir", model, "--tag_set", tag_set), keys)
        ops = theirs(saved_model_cli._show_ops_in_metagraph, model, tag_set)
        self.assertEqual(normal(ours("show", "--dir", model, "--tag_set", tag_set, "--list_ops")),
                         normal(ops + keys))
        for key in re.findall(r'^SignatureDef key: "(.*)"$', keys, re.MULTILINE):
            self.assertEqual(
                ours("show", "--dir", model, "--tag_set", tag_set, "--signature_def", key),
                theirs(saved_model_cli._show_inputs_outputs, model, tag_set, key))


class Scan(unittest.TestCase):
    def test_first_line(self):
        for name in ["affine", "counter", "tags"]:
            model = os.path.join(golden, "saved_models", name, "saved_model")
            for denied in [{"WriteFile", "ReadFile", "PrintV2"}, {"SaveV2", "ReadFile", "AddV2"}]:
                want = ""
                for meta_graph in saved_model_cli.saved_model_utils.read_saved_model(
                        model).meta_graphs:
                    want += theirs(saved_model_cli.scan_meta_graph_def, meta_graph, denied)
                got = ours("scan", "--dir", model, "--op_denylist", ",".join(denied))
                got = "".join(line for line in got.splitlines(True) if line[0] != " ")
                self.assertEqual(normal(got), normal(want))


class Run(unittest.TestCase):
    affine = os.path.join(golden, "saved_models", "affine", "saved_model")
    wide_deep = os.path.join(SHARED, "models", "wide_deep_example", "saved_model")

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def file(self, name):
        return os.path.join(self.folder, name)

    def check(self, model, inputs="", exprs="", examples=""):
        feed = saved_model_cli.load_inputs_from_input_arg_string(inputs, exprs, examples)
        theirs(saved_model_cli.run_saved_model_with_feed_dict, model, "serve", "serving_default",
               feed, self.file("theirs"), True)
        got = ours("run", "--dir", model, "--tag_set", "serve", "--signature_def",
                   "serving_default", "--inputs", inputs, "--input_exprs", exprs,
                   "--input_examples", examples, "--outdir", self.file("ours"), "--overwrite")
        names = os.listdir(self.file("theirs"))
        self.assertEqual(sorted(names), sorted(os.listdir(self.file("ours"))), got)
        for name in names:
            want = np.load(self.file(os.path.join("theirs", name)), allow_pickle=True)
            have = np.load(self.file(os.path.join("ours", name)))
            if want.dtype == object:  # strings; ours are an array of bytes
                self.assertEqual(have.tolist(), want.tolist())
                continue
            self.assertEqual(have.dtype, want.dtype)
            np.testing.assert_allclose(have, want, rtol=1e-5, atol=1e-6)

    def test_files(self):
        np.save(self.file("a.npy"), np.array([1.5, -2.0, 8.0]))  # of another type than the input
        np.savez(self.file("two.npz"), x=np.float32([3]), y=np.float32([4]))
        np.savez_compressed(self.file("one.npz"), x=np.arange(5))
        for text in ["a.npy", "two.npz[y]", "one.npz"]:
            self.check(self.affine, inputs="x=" + self.file(text))

    def test_expressions(self):
        for text in ["[1.0, 2.5, -3]", "[]", "(1e3, 2)", "[True]"]:
            self.check(self.affine, exprs="x=" + text)

    def test_later_flags_win(self):
        np.save(self.file("a.npy"), np.float32([1, 2]))
        self.check(self.affine, inputs="x=" + self.file("a.npy"), exprs="x=[7.0]")

    def test_examples(self):
        if os.path.isdir(self.wide_deep):
            self.check(self.wide_deep, examples=(
                "examples=[{'age': [17.0], 'city': ['paris'], 'income': [1e3], 'words': ['a']}, "
                "{'age': [35.0], 'city': [b'rome'], 'words': ['b', 'a']}]"))

    def test_files_that_are_there_stay(self):
        run = ["run", "--dir", self.affine, "--input_exprs", "x=[1.0]", "--outdir", self.folder]
        self.assertIn("is saved to", ours(*run))
        self.assertIn('Add "--overwrite"', ours(*run))
        self.assertIn("is saved to", ours(*run, "--overwrite"))


unittest.main(argv=sys.argv[:1], verbosity=1)
