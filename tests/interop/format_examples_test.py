#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The model that docs/formats/examples writes down byte by byte, in TensorFlow: as an object, as a
signature, in a session of TensorFlow 1, and its checkpoint.

  format_examples_test.py FOLDER     FOLDER holds the files *.hex
"""
import os
import pathlib
import sys
import tempfile
import unittest

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow as tf

FILES = {"saved_model.pb": "saved_model.pb", "variables.index": "variables/variables.index",
         "variables.data": "variables/variables.data-00000-of-00001"}


class FormatExamples(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.temporary.name)
        (self.folder / "variables").mkdir()
        for name, path in FILES.items():
            text = pathlib.Path(EXAMPLES, name + ".hex").read_text()
            code = " ".join(line.split("#")[0] for line in text.split("\n"))
            (self.folder / path).write_bytes(bytes.fromhex(code))

    def tearDown(self):
        self.temporary.cleanup()

    def test_loads_as_an_object(self):
        loaded = tf.saved_model.load(str(self.folder))
        np.testing.assert_array_equal(loaded.w.numpy(), [2, 3])
        y = loaded.signatures["serving_default"](x=tf.constant([5.0, -7.0]))["y"]
        np.testing.assert_array_equal(y, [10, -21])

    def test_restores_itself_in_a_session(self):
        with tf.compat.v1.Session(graph=tf.Graph()) as session:
            tf.compat.v1.saved_model.load(session, ["serve"], str(self.folder))
            y = session.run("StatefulPartitionedCall:0", {"serving_default_x:0": [5, -7]})
        np.testing.assert_array_equal(y, [10, -21])

    def test_is_a_checkpoint(self):
        reader = tf.train.load_checkpoint(str(self.folder / "variables" / "variables"))
        np.testing.assert_array_equal(reader.get_tensor("w/.ATTRIBUTES/VARIABLE_VALUE"), [2, 3])


EXAMPLES = sys.argv.pop(1)
unittest.main()
