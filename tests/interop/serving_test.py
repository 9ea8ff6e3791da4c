# SPDX-License-Identifier: Apache-2.0
"""serving_test.py SLIPWAY GOLDEN: the clients of TensorFlow Serving talk to `slipway serve`.

The stubs are those of tensorflow-serving-api; the models are those of tests/golden/saved_models and
one that `slipway train` makes.
"""
import json
import os
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import unittest

import grpc
import numpy as np
import tensorflow as tf
from tensorflow_serving.apis import get_model_metadata_pb2, get_model_status_pb2, predict_pb2

from serving import Server

SLIPWAY, GOLDEN = (os.path.abspath(a) for a in sys.argv[1:3])
del sys.argv[1:]


def golden(name):
    return os.path.join(GOLDEN, "saved_models", name, "saved_model")


def predict_request(name, inputs, signature="", version=None, label=None, filters=()):
    """`inputs` are arrays (sent as typed values or tensor_content, as TensorFlow does)."""
    request = predict_pb2.PredictRequest()
    request.model_spec.name = name
    request.model_spec.signature_name = signature
    if version is not None:
        request.model_spec.version.value = version
    if label is not None:
        request.model_spec.version_label = label
    for key, value in inputs.items():
        request.inputs[key].CopyFrom(tf.make_tensor_proto(value))
    request.output_filter.extend(filters)
    return request


FLOATS = np.array([1.0, 2.0, -3.0], np.float32)


class Case(unittest.TestCase):
    name, versions, flags = "m", {}, ()

    @classmethod
    def setUpClass(cls):
        cls.server = Server(SLIPWAY, cls.name, cls.versions, cls.flags)
        cls.enterClassContext(cls.server)

    def predict(self, *args, **kwargs):
        return self.server.prediction.Predict(predict_request(self.name, *args, **kwargs), timeout=30)

    def assertFails(self, call, code, text):
        with self.assertRaises(grpc.RpcError) as raised:
            call()
        self.assertEqual(raised.exception.code(), code, raised.exception.details())
        self.assertIn(text, raised.exception.details())

    def assertRest(self, path, body, status, text):
        seen, answer = self.server.rest(path, body)
        self.assertEqual(seen, status, answer)
        self.assertEqual(list(answer), ["error"])
        self.assertIn(text, answer["error"])


class Predict(Case):
    versions = {123: golden("affine")}

    def test_typed_values(self):
        request = predict_request("m", {})
        request.inputs["x"].dtype = 1
        request.inputs["x"].tensor_shape.dim.add(size=3)
        request.inputs["x"].float_val.extend(FLOATS)
        answer = self.server.prediction.Predict(request, timeout=30)
        self.assertEqual(list(answer.outputs["y"].float_val), [2.5, 3.0, 0.5])
        self.assertFalse(answer.outputs["y"].tensor_content)
        self.assertEqual(answer.model_spec.name, "m")
        self.assertEqual(answer.model_spec.version.value, 123)
        self.assertEqual(answer.model_spec.signature_name, "serving_default")

    def test_tensor_content(self):
        request = predict_request("m", {})
        request.inputs["x"].dtype = 1
        request.inputs["x"].tensor_shape.dim.add(size=3)
        request.inputs["x"].tensor_content = FLOATS.tobytes()
        answer = self.server.prediction.Predict(request, timeout=30)
        np.testing.assert_array_equal(tf.make_ndarray(answer.outputs["y"]), [2.5, 3.0, 0.5])

    def test_many_rows(self):
        x = np.random.default_rng(0).normal(size=100_000).astype(np.float32)
        answer = self.predict({"x": x})
        np.testing.assert_allclose(tf.make_ndarray(answer.outputs["y"]), 0.5 * x + 2, rtol=1e-6)
        self.assertEqual(self.predict({"x": FLOATS[:0]}).outputs["y"].tensor_shape.dim[0].size, 0)

    def test_one_value_fills_the_shape(self):
        request = predict_request("m", {})
        request.inputs["x"].dtype = 1
        request.inputs["x"].tensor_shape.dim.add(size=4)
        request.inputs["x"].float_val.append(2.0)
        answer = self.server.prediction.Predict(request, timeout=30)
        self.assertEqual(list(answer.outputs["y"].float_val), [3.0] * 4)

    def test_version_and_filter(self):
        answer = self.predict({"x": FLOATS}, "serving_default", version=123, filters=["y"])
        self.assertEqual(list(answer.outputs), ["y"])

    def test_many_calls_at_once(self):
        futures = [self.server.prediction.Predict.future(
            predict_request("m", {"x": np.float32([i])}), timeout=30) for i in range(200)]
        for i, future in enumerate(futures):
            self.assertEqual(list(future.result().outputs["y"].float_val), [0.5 * i + 2])

    def test_errors(self):
        code = grpc.StatusCode
        empty = predict_pb2.PredictRequest()
        stub = self.server.prediction
        self.assertFails(lambda: stub.Predict(empty), code.INVALID_ARGUMENT, "Missing ModelSpec")
        self.assertFails(lambda: stub.Predict(predict_request("", {"x": FLOATS}, "s")),
                         code.INVALID_ARGUMENT, "ModelSpec has no name specified.")
        self.assertFails(lambda: stub.Predict(predict_request("other", {"x": FLOATS})),
                         code.NOT_FOUND, "Servable not found for request: Latest(other)")
        self.assertFails(lambda: self.predict({"x": FLOATS}, version=99),
                         code.NOT_FOUND, "Servable not found for request: Specific(m, 99)")
        self.assertFails(lambda: self.predict({"x": FLOATS}, label="canary"),
                         code.INVALID_ARGUMENT, "Unrecognized servable version label: canary")
        self.assertFails(lambda: self.predict({"x": FLOATS}, "absent"),
                         code.FAILED_PRECONDITION, 'Serving signature key "absent" not found.')
        self.assertFails(lambda: self.predict({}), code.INVALID_ARGUMENT,
                         "input size does not match signature")
        self.assertFails(lambda: self.predict({"z": FLOATS}), code.INVALID_ARGUMENT,
                         "Missing but required: {x}")
        self.assertFails(lambda: self.predict({"x": FLOATS, "z": FLOATS}), code.INVALID_ARGUMENT,
                         "Sent extra: {z}")
        self.assertFails(lambda: self.predict({"x": ["a"]}), code.INVALID_ARGUMENT,
                         "to be float but string is provided")
        self.assertFails(lambda: self.predict({"x": FLOATS}, filters=["a"]), code.INVALID_ARGUMENT,
                         "output tensor alias not found in signature: a")
        self.assertFails(lambda: self.predict({"x": FLOATS}, filters=["y", "y"]),
                         code.INVALID_ARGUMENT, "duplicate output tensor alias: y")

    def test_unknown_method(self):
        call = self.server.channel.unary_unary("/tensorflow.serving.PredictionService/Nothing")
        self.assertFails(lambda: call(b"", timeout=30), grpc.StatusCode.UNIMPLEMENTED, "")

    def test_bytes_that_are_no_request(self):
        call = self.server.channel.unary_unary("/tensorflow.serving.PredictionService/Predict")
        for body in [b"\xff" * 40, b"\x0a\xff\xff\xff\xff\x0f", os.urandom(1000)]:
            with self.assertRaises(grpc.RpcError):
                call(body, timeout=30)
        self.test_typed_values()


class Models(Case):
    versions = {123: golden("affine")}

    def test_status(self):
        request = get_model_status_pb2.GetModelStatusRequest()
        request.model_spec.name = "m"
        row, = self.server.model.GetModelStatus(request, timeout=30).model_version_status
        self.assertEqual((row.version, row.state, row.status.error_code), (123, 30, 0))
        request.model_spec.version.value = 9
        self.assertFails(lambda: self.server.model.GetModelStatus(request),
                         grpc.StatusCode.NOT_FOUND, "Could not find version 9 of model m")
        request.model_spec.name = "other"
        request.model_spec.ClearField("version")
        self.assertFails(lambda: self.server.model.GetModelStatus(request),
                         grpc.StatusCode.NOT_FOUND, "Could not find any versions of model other")
        self.assertFails(lambda: self.server.model.GetModelStatus(type(request)()),
                         grpc.StatusCode.INVALID_ARGUMENT, "Missing ModelSpec")

    def test_metadata(self):
        request = get_model_metadata_pb2.GetModelMetadataRequest(metadata_field=["signature_def"])
        request.model_spec.name = "m"
        answer = self.server.prediction.GetModelMetadata(request, timeout=30)
        self.assertEqual(answer.model_spec.version.value, 123)
        signatures = get_model_metadata_pb2.SignatureDefMap()
        self.assertTrue(answer.metadata["signature_def"].Unpack(signatures))
        signature = signatures.signature_def["serving_default"]
        self.assertEqual(signature.method_name, "tensorflow/serving/predict")
        self.assertEqual(signature.inputs["x"].dtype, 1)
        self.assertEqual([d.size for d in signature.inputs["x"].tensor_shape.dim], [-1])
        del request.metadata_field[:]
        self.assertFails(lambda: self.server.prediction.GetModelMetadata(request),
                         grpc.StatusCode.INVALID_ARGUMENT, "must specify at least one metadata_field")
        request.metadata_field.append("wrong")
        self.assertFails(lambda: self.server.prediction.GetModelMetadata(request),
                         grpc.StatusCode.INVALID_ARGUMENT, "Metadata field wrong is not supported")


class Rest(Case):
    versions = {123: golden("affine")}

    def test_predict(self):
        for path in ["/v1/models/m:predict", "/v1/models/m/versions/123:predict"]:
            self.assertEqual(self.server.rest(path, {"instances": [1.0, 2.0]}),
                             (200, {"predictions": [2.5, 3.0]}))
            self.assertEqual(self.server.rest(path, {"instances": [{"x": 1}, {"x": 2}]}),
                             (200, {"predictions": [2.5, 3.0]}))
            self.assertEqual(self.server.rest(path, {"inputs": [1.0, 2.0]}),
                             (200, {"outputs": [2.5, 3.0]}))
            self.assertEqual(self.server.rest(path, {"inputs": {"x": [1.0]},
                                                     "signature_name": "serving_default"}),
                             (200, {"outputs": [2.5]}))

    def test_status(self):
        row = {"version": "123", "state": "AVAILABLE",
               "status": {"error_code": "OK", "error_message": ""}}
        for path in ["/v1/models/m", "/v1/models/m/versions/123"]:
            self.assertEqual(self.server.rest(path), (200, {"model_version_status": [row]}))

    def test_metadata(self):
        status, answer = self.server.rest("/v1/models/m/metadata")
        self.assertEqual(status, 200)
        self.assertEqual(answer["model_spec"], {"name": "m", "signature_name": "", "version": "123"})
        signature = answer["metadata"]["signature_def"]["signature_def"]["serving_default"]
        self.assertEqual(signature["inputs"]["x"]["dtype"], "DT_FLOAT")
        self.assertEqual(signature["inputs"]["x"]["tensor_shape"],
                         {"dim": [{"size": "-1", "name": ""}], "unknown_rank": False})

    def test_errors(self):
        path = "/v1/models/m:predict"
        self.assertRest(path, "", 400, "JSON Parse error: The document is empty")
        self.assertRest(path, "{", 400, "JSON Parse error")
        self.assertRest(path, {"x": [1]}, 400, "Missing 'inputs' or 'instances' key")
        self.assertRest(path, {"inputs": [1], "instances": [1]}, 400,
                        "expecting only one of 'inputs' or 'instances'")
        self.assertRest(path, {"instances": 1}, 400, "Expecting 'instances' to be an list/array")
        self.assertRest(path, {"instances": []}, 400, "No values in 'instances' array")
        self.assertRest(path, {"instances": ["a"]}, 400, "is not of expected type: float")
        self.assertRest(path, {"instances": [1.0], "signature_name": 1}, 400,
                        "'signature_name' key must be a string value")
        self.assertRest(path, {"instances": [1.0], "signature_name": "absent"}, 400,
                        'Serving signature name: "absent" not found in signature def')
        self.assertRest(path, '{"instances": ' + "[" * 50000 + "]" * 50000 + "}", 400, "")
        self.assertRest("/v1/models/other:predict", {"instances": [1.0]}, 404,
                        "Servable not found for request: Latest(other)")
        self.assertRest("/v1/models/m/versions/9:predict", {"instances": [1.0]}, 404,
                        "Servable not found for request: Specific(m, 9)")
        self.assertRest("/v1/models/other", None, 404, "Could not find any versions of model other")
        self.assertRest("/v1/nothing", None, 400, "Malformed request: GET /v1/nothing")


class SeveralInputs(Case):
    versions = {1: golden("branches")}

    def test_grpc(self):
        answer = self.predict({"x": FLOATS, "flag": True})
        np.testing.assert_array_equal(tf.make_ndarray(answer.outputs["y"]), FLOATS * 2)
        np.testing.assert_array_equal(tf.make_ndarray(answer.outputs["sum"]), 0.0)

    def test_columns(self):
        self.assertEqual(
            self.server.rest("/v1/models/m:predict", {"inputs": {"x": [1.0, 2.0], "flag": False}}),
            (200, {"outputs": {"y": [0.0, 1.0], "sum": 1.0}}))


class ChangingVariable(Case):
    versions = {1: golden("counter")}

    def test_signatures_share_it(self):
        before = tf.make_ndarray(self.predict({}, "get").outputs["count"])
        answer = self.predict({"times": np.float32(2)}, "add")
        self.assertEqual(tf.make_ndarray(answer.outputs["before"]), before)
        self.assertEqual(tf.make_ndarray(answer.outputs["after"]), before + 20)
        self.assertEqual(tf.make_ndarray(self.predict({}, "get").outputs["count"]), before + 20)


class OtherForms(Case):
    """The textual form of a SavedModel, answers as tensor_content, health."""
    versions = {1: golden("text")}
    flags = ("--enable_serialization_as_tensor_content=true",
             "--enable_grpc_healthcheck_service=true")

    def test_tensor_content(self):
        answer = self.predict({"x": FLOATS})
        self.assertTrue(answer.outputs["y"].tensor_content)
        np.testing.assert_array_equal(tf.make_ndarray(answer.outputs["y"]), [2.5, 3.0, 0.5])

    def test_health(self):
        check = self.server.channel.unary_unary("/grpc.health.v1.Health/Check")
        for service in [b"", b"PredictionService", b"ModelService"]:
            request = b"\x0a" + bytes([len(service)]) + service if service else b""
            self.assertEqual(check(request, timeout=30), b"\x08\x01", service)  # SERVING
        self.assertFails(lambda: check(b"\x0a\x01x", timeout=30), grpc.StatusCode.NOT_FOUND, "")


class Swap(Case):
    versions = {1: golden("affine")}

    def test_no_request_fails(self):
        failures, versions, stop = [], [], threading.Event()

        def call():
            while not stop.is_set():
                try:
                    versions.append(self.predict({"x": FLOATS}).model_spec.version.value)
                except grpc.RpcError as error:
                    failures.append(error)

        threads = [threading.Thread(target=call) for _ in range(4)]
        for thread in threads:
            thread.start()
        try:
            self.server.publish(2, golden("affine"))
            self.assertTrue(self.server.wait_until(lambda: versions and versions[-1] == 2))
            self.server.withdraw(2)
            self.assertTrue(self.server.wait_until(lambda: versions[-1] == 1))
        finally:
            stop.set()
            for thread in threads:
                thread.join()
        self.assertEqual(failures, [])
        self.assertEqual(set(versions), {1, 2})


class Trained(Case):
    """A model that `slipway train` has just made, stopped by SIGTERM."""

    @classmethod
    def setUpClass(cls):
        cls.work = cls.enterClassContext(tempfile.TemporaryDirectory())
        random = np.random.default_rng(0)
        for name, array in [("x", random.integers(0, 256, size=(64, 4, 5))),
                            ("y", random.integers(0, 3, size=64))]:
            with open(os.path.join(cls.work, name), "wb") as f:
                f.write(struct.pack(">HBB", 0, 8, array.ndim))
                f.write(struct.pack(f">{array.ndim}I", *array.shape))
                f.write(array.astype(np.uint8).tobytes())
        recipe = {"model": {"layers": ["Flatten", {"Dense": {"units": 8, "activation": "relu"}},
                                       {"Dense": {"units": 3, "activation": "softmax"}}]},
                  "data": {"train_images": "x", "train_labels": "y", "divide_by": 255},
                  "compile": {"optimizer": "SGD", "loss": "sparse_categorical_crossentropy"},
                  "save": "saved"}
        with open(os.path.join(cls.work, "recipe.yaml"), "w") as f:
            json.dump(recipe, f)
        subprocess.run([SLIPWAY, "train", "recipe.yaml"], cwd=cls.work, check=True,
                       stdout=subprocess.DEVNULL)
        cls.versions = {1: os.path.join(cls.work, "saved")}
        super().setUpClass()

    def test_predict_and_stop(self):
        saved = os.path.join(self.work, "saved")
        images = np.random.default_rng(1).uniform(size=(9, 4, 5)).astype(np.float32)
        wanted = tf.saved_model.load(saved)(images).numpy()
        signature = tf.saved_model.load(saved).signatures["serving_default"]
        name, = signature.structured_input_signature[1]
        answer, = self.predict({name: images}).outputs.values()
        np.testing.assert_allclose(tf.make_ndarray(answer), wanted, atol=1e-5)
        status, answer = self.server.rest("/v1/models/m:predict", {"instances": images.tolist()})
        self.assertEqual(status, 200)
        np.testing.assert_allclose(answer["predictions"], wanted, atol=1e-5)
        self.assertFails(lambda: self.predict({name: images[:, :3]}),
                         grpc.StatusCode.INVALID_ARGUMENT, "")
        self.server.process.send_signal(signal.SIGTERM)
        self.assertEqual(self.server.process.wait(timeout=60), 0)


unittest.main(verbosity=1)
