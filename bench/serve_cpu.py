#!/usr/bin/env python3
"""Server CPU per request of `slipway serve` on a dense network, beside the floors of peers/serve, in one run.

    bench/serve_cpu.py --build build/release --model quickstart/models/fashion_mnist --work DIR

Starts the server on a copy of the model, writes one image as a REST body and as a framed PredictRequest, and
runs cpu_per_request.py of the peers on it: one JSON line a server and pass. In each pass it also times the
model's own arithmetic: its kernels called back to back (bench/predict_dense). Then it prints, on standard
error, the best pass and all: how far each protocol is above its floor once the arithmetic is taken off, the
latency at one connection, the time from the start to the first answer and the resident memory.
"""
import argparse
import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import time
import urllib.request

IMAGES = "/usr/share/datasets/fashion-mnist/t10k-images-idx3-ubyte.gz"


def varint(n):
    out = b""
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def field(number, payload):
    return varint(number << 3 | 2) + varint(len(payload)) + payload


def predict_request(model, name, pixels):
    """A PredictRequest with one [1, 28, 28] float tensor in tensor_content."""
    import struct
    dims = b"".join(field(2, b"\x08" + varint(d)) for d in (1, 28, 28))
    tensor = b"\x08\x01" + field(2, dims) + field(4, struct.pack("<784f", *pixels))
    return field(1, field(1, model.encode())) + field(2, field(1, name.encode()) + field(2, tensor))


def start_server(slipway, base, grpc, rest):
    command = [slipway, "serve", "--port", str(grpc), "--rest_api_port", str(rest), "--model_name", "m", "--model_base_path", base]
    begin = time.time()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    body = json.dumps({"inputs": [[[0.0] * 28] * 28]}).encode()
    while process.poll() is None:
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{rest}/v1/models/m:predict", body, timeout=5).read()
            return process, time.time() - begin
        except OSError:
            time.sleep(0.002)
    sys.exit("the server ended")


def rss_mb(pid):
    return int(re.search(r"VmRSS:\s+(\d+)", open(f"/proc/{pid}/status").read())[1]) / 1024


def latency_us(protocol, port, path, body):
    command = ["h2load", "-n", "2000", "-c", "1", "-d", body]
    command += ["--h1"] if protocol == "http" else ["-m", "1", "-H", "content-type: application/grpc", "-H", "te: trailers"]
    out = subprocess.run(command + [f"http://127.0.0.1:{port}{path}"], capture_output=True, text=True, timeout=60).stdout
    value, unit = re.search(r"time for request:\s+\S+\s+\S+\s+([\d.]+)(us|ms)", out).groups()
    return float(value) * (1000 if unit == "ms" else 1)


def run_rows(command):
    out = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    print(out, end="")
    return [json.loads(line) for line in out.splitlines()]


def one_pass(command, predict_dense):
    """Microseconds by engine: what the servers cost at best, and what the kernels take in the middle."""
    cost = {}
    for row in run_rows(command):
        if row["unit"] == "us":
            cost[row["engine"]] = row["min"]
    for row in run_rows([predict_dense, "--seconds=1"]):
        if row["workload"] == "infer/mlp":
            cost[row["engine"]] = row["median"]
    return cost


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--build", required=True, help="build folder with slipway and bench/predict_dense")
    p.add_argument("--model", required=True, help="base path of the model; its newest version is served")
    p.add_argument("--work", required=True, help="scratch folder; the floors are built there by peers/serve/run.sh")
    p.add_argument("--peers", default=os.path.join(os.environ.get("SLIPWAY_SHARED", "../shared"), "peers"))
    p.add_argument("--passes", type=int, default=3)
    p.add_argument("--input", default="inputs")
    a = p.parse_args()
    slipway = os.path.join(a.build, "slipway")
    base = os.path.join(a.work, "model")
    shutil.rmtree(base, ignore_errors=True)
    shutil.copytree(a.model, base)
    pixels = [b / 255 for b in gzip.open(IMAGES).read()[16:16 + 784]]
    text, framed = os.path.join(a.work, "image.json"), os.path.join(a.work, "image.grpc")
    rows = [[float(f"{v:.6g}") for v in pixels[28 * r:28 * r + 28]] for r in range(28)]
    open(text, "w").write(json.dumps({"instances": [rows]}))
    message = predict_request("m", a.input, pixels)
    open(framed, "wb").write(b"\0" + len(message).to_bytes(4, "big") + message)
    grpc, rest = 18610, 18611
    paths = {"http": ("/v1/models/m:predict", text, rest), "grpc": ("/tensorflow.serving.PredictionService/Predict", framed, grpc)}

    process, first = start_server(slipway, base, grpc, rest)
    lat = {k: latency_us(k, port, path, body) for k, (path, body, port) in paths.items()}
    rss = rss_mb(process.pid)
    process.terminate()
    process.wait()

    serve = f"{slipway} serve --port {grpc} --rest_api_port {rest} --model_name m --model_base_path {base}"
    command = [sys.executable, os.path.join(a.peers, "serve", "cpu_per_request.py"), a.work]
    for kind, (path, body, port) in paths.items():
        command += ["--server", f"slipway-{kind}|{kind}|{port}|{path}|{body}|{serve}"]
    passes = [one_pass(command, os.path.join(a.build, "bench", "predict_dense")) for _ in range(a.passes)]
    for kind, floor, numbers in (("http", "http_epoll", 784 + 10), ("grpc", "grpc_nghttp2", 0)):
        def above(cost):
            return cost[f"slipway-{kind}"] - cost["slipway-kernels"] - cost[floor]
        best = min(passes, key=above)
        print(f"{kind}: {best[f'slipway-{kind}']:.1f} us, arithmetic {best['slipway-kernels']:.1f}, floor {best[floor]:.1f}, above it "
              f"{above(best):.1f}, all passes {sorted(round(above(p), 1) for p in passes)} (limit {12 + 0.025 * numbers:.1f}); "
              f"latency at one connection {lat[kind]:.0f} us", file=sys.stderr)
    print(f"start to first answer {first * 1e3:.0f} ms, resident {rss:.1f} MB", file=sys.stderr)


main()
