# SPDX-License-Identifier: Apache-2.0
"""What the tests of the server share: a `slipway serve` process with free ports, and its clients."""
import json
import os
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

import grpc
from tensorflow_serving.apis import model_service_pb2_grpc, prediction_service_pb2_grpc


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Server:
    """`with Server(program, name, {version: SavedModel}) as server:`; killed at the end."""

    def __init__(self, program, name, versions, flags=()):
        self.program, self.name, self.flags = program, name, list(flags)
        self.folder = tempfile.mkdtemp(prefix="slipway-serve-")
        self.base = os.path.join(self.folder, "models")
        os.mkdir(self.base)
        for version, source in versions.items():
            self.publish(version, source)
        self.log = open(os.path.join(self.folder, "log"), "w+")

    def publish(self, version, source):
        """Copies a SavedModel beside the versions, then gives it its name in one step."""
        copy = os.path.join(self.base, f"copy-of-{version}")
        shutil.copytree(source, copy)
        os.rename(copy, os.path.join(self.base, str(version)))

    def withdraw(self, version):
        away = os.path.join(self.base, f"away-{version}")
        os.rename(os.path.join(self.base, str(version)), away)
        shutil.rmtree(away)

    def __enter__(self):
        for _ in range(5):  # another program may take a port between its choice and its use
            self.grpc_port, self.rest_port = free_port(), free_port()
            self.process = subprocess.Popen(
                [self.program, "serve", "--address=127.0.0.1", f"--port={self.grpc_port}",
                 f"--rest_api_port={self.rest_port}", f"--model_name={self.name}",
                 f"--model_base_path={self.base}", *self.flags],
                stdout=self.log, stderr=subprocess.STDOUT)
            if self.wait_until(lambda: self.states() and all(
                    s == "AVAILABLE" for s in self.states().values())):
                break
        else:
            self.log.seek(0)
            raise AssertionError("the server did not start: " + self.log.read()[-2000:])
        self.channel = grpc.insecure_channel(f"127.0.0.1:{self.grpc_port}")
        self.prediction = prediction_service_pb2_grpc.PredictionServiceStub(self.channel)
        self.model = model_service_pb2_grpc.ModelServiceStub(self.channel)
        return self

    def __exit__(self, *_):
        self.channel.close()
        self.process.kill()
        self.process.wait()
        self.log.close()
        shutil.rmtree(self.folder)

    def wait_until(self, condition, seconds=60):
        """Whether it came true while the server lived."""
        end = time.monotonic() + seconds
        while time.monotonic() < end and self.process.poll() is None:
            if condition():
                return True
            time.sleep(0.02)
        return False

    def rest(self, path, body=None, method=None):
        """(status, answer as JSON); a str body goes as it is."""
        data = body.encode() if isinstance(body, str) else body and json.dumps(body).encode()
        request = urllib.request.Request(f"http://127.0.0.1:{self.rest_port}{path}", data,
                                         method=method)
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=30) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            text = error.read()
            return error.code, json.loads(text) if text.startswith(b"{") else text

    def states(self):
        """version -> state; empty while nobody answers."""
        try:
            _, answer = self.rest(f"/v1/models/{self.name}")
        except OSError:
            return {}
        return {int(v["version"]): v["state"] for v in answer.get("model_version_status", [])}
