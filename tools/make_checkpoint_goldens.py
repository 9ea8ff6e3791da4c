#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes tests/golden/checkpoint and tests/golden/wire/tensor_protos.json with TensorFlow.

  make_checkpoint_goldens.py tests/golden

dtypes        one tensor of every dtype, at odd offsets (alignment 1), strings short and long
partitioned   a tensor in pieces, as a partitioned variable of TensorFlow 1 is saved
sharded       two shards
object        a tf.train.Checkpoint with its object graph, and the state file `checkpoint`
tensor_protos.json   TensorProtos in base64 with the values that TensorFlow reads from them
"""
import base64
import json
import os
import shutil
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow as tf

out = os.path.join(sys.argv[1], "checkpoint")
wire = os.path.join(sys.argv[1], "wire")
shutil.rmtree(out, ignore_errors=True)
os.makedirs(out)
os.makedirs(wire, exist_ok=True)


def dtypes():
    values = {
        "a_odd": tf.constant([7], tf.uint8),
        "bool": tf.constant([True, False, True]),
        "bfloat16": tf.constant([1.5, -2.0], tf.bfloat16),
        "complex128": tf.constant([1 + 2j], tf.complex128),
        "complex64": tf.constant([[1 + 2j, -3.5j]], tf.complex64),
        "empty": tf.zeros([0, 3]),
        "float": tf.constant([[1.0, 2.0, 3.0], [-4.5, 0.0, 1e30]]),
        "double": tf.constant(3.141592653589793, tf.float64),
        "half": tf.constant([0.5, 65504.0], tf.float16),
        "int16": tf.constant([-32768, 32767], tf.int16),
        "int32": tf.constant([-2147483648, 5], tf.int32),
        "int64": tf.constant([-(2**63), 2**63 - 1], tf.int64),
        "int8": tf.constant([-128, 127], tf.int8),
        "string": tf.constant([b"", b"a", b"b" * 200, b"\x00\xff"], tf.string),
        "string_scalar": tf.constant("one"),
        "uint16": tf.constant([65535], tf.uint16),
        "uint32": tf.constant([2**32 - 1], tf.uint32),
        "uint64": tf.constant([2**64 - 1], tf.uint64),
        "uint8": tf.constant([0, 255], tf.uint8),
    }
    names = list(values)
    tf.raw_ops.SaveV2(prefix=os.path.join(out, "dtypes"), tensor_names=names, shape_and_slices=[""] * len(names),
                      tensors=list(values.values()))


def partitioned():
    whole = np.arange(7 * 3, dtype=np.float32).reshape(7, 3)
    parts = [(0, 4, 0, 3), (4, 3, 0, 1), (4, 3, 1, 2)]
    tf.raw_ops.SaveV2(prefix=os.path.join(out, "partitioned"), tensor_names=["w"] * 3 + ["long/" + "n" * 70],
                      shape_and_slices=["7 3 %d,%d:%d,%d" % p for p in parts] + ["300 2 200,100:-"],
                      tensors=[tf.constant(whole[r:r + n, c:c + m]) for r, n, c, m in parts]
                      + [tf.constant(np.arange(200, dtype=np.int32).reshape(100, 2))])


def sharded():
    prefixes = [os.path.join(out, "part%d" % i) for i in range(2)]
    for i, prefix in enumerate(prefixes):
        tf.raw_ops.SaveV2(prefix=prefix, tensor_names=["t%d" % i], shape_and_slices=[""], tensors=[tf.fill([3], i + 1)])
    tf.raw_ops.MergeV2Checkpoints(checkpoint_prefixes=prefixes, destination_prefix=os.path.join(out, "sharded"))


def objects():
    folder = os.path.join(out, "object")
    checkpoint = tf.train.Checkpoint(v=tf.Variable([1.0, 2.0]), step=tf.Variable(3, dtype=tf.int64))
    manager = tf.train.CheckpointManager(checkpoint, folder, max_to_keep=2)
    manager.save()
    manager.save()
    with open(os.path.join(folder, "checkpoint")) as f:
        kept = [line for line in f if not line.startswith(("all_model_checkpoint_timestamps", "last_preserved"))]
    with open(os.path.join(folder, "checkpoint"), "w") as f:
        f.writelines(kept + ["all_model_checkpoint_timestamps: 1700000000.25\n", "all_model_checkpoint_timestamps: 1700000001.5\n",
                             "last_preserved_timestamp: 1699999999.5\n"])


def protos():
    cases = []

    def add(name, proto):
        array = tf.io.parse_tensor(proto.SerializeToString(), proto.dtype).numpy()
        dtype = tf.dtypes.as_dtype(proto.dtype)
        flat = array.reshape(-1)
        if dtype == tf.string:
            values = [base64.b64encode(v).decode() for v in flat]
        else:
            values = base64.b64encode(np.ascontiguousarray(flat).tobytes()).decode()
        cases.append({"name": name, "proto": base64.b64encode(proto.SerializeToString()).decode(), "dtype": int(proto.dtype),
                      "shape": list(array.shape), "values": values})

    def typed(tensor):
        # TensorFlow Serving's default: the typed fields.
        source = tf.make_tensor_proto(tensor)
        array = np.asarray(tf.make_ndarray(source)).reshape(-1)
        p = type(source)()
        p.dtype = source.dtype
        p.tensor_shape.CopyFrom(source.tensor_shape)
        d = tf.dtypes.as_dtype(p.dtype)
        if d == tf.float32:
            p.float_val.extend(array)
        elif d == tf.float64:
            p.double_val.extend(array)
        elif d == tf.string:
            p.string_val.extend(array)
        elif d == tf.int64:
            p.int64_val.extend(array)
        elif d == tf.bool:
            p.bool_val.extend(array)
        elif d in (tf.float16, tf.bfloat16):
            p.half_val.extend(array.view(np.uint16).astype(int))
        elif d == tf.uint32:
            p.uint32_val.extend(array)
        elif d == tf.uint64:
            p.uint64_val.extend(array)
        elif d == tf.complex64:
            p.scomplex_val.extend(array.view(np.float32))
        elif d == tf.complex128:
            p.dcomplex_val.extend(array.view(np.float64))
        else:
            p.int_val.extend(int(v) for v in array)
        return p

    samples = {
        "float": tf.constant([[1.5, -2.0], [float("inf"), 1e-40]]), "double": tf.constant([1e300], tf.float64),
        "half": tf.constant([1.5, -0.0], tf.float16), "bfloat16": tf.constant([1.5, -3.0], tf.bfloat16),
        "int8": tf.constant([-128, 1], tf.int8), "int16": tf.constant([-5], tf.int16), "int32": tf.constant([-7, 300], tf.int32),
        "int64": tf.constant(-2**63, tf.int64), "uint8": tf.constant([200], tf.uint8), "uint16": tf.constant([60000], tf.uint16),
        "uint32": tf.constant([2**32 - 1], tf.uint32), "uint64": tf.constant([2**64 - 1], tf.uint64),
        "bool": tf.constant([True, False]), "complex64": tf.constant([1 + 2j], tf.complex64),
        "complex128": tf.constant([1 - 2j, 3j], tf.complex128), "string": tf.constant([[b"a", b""], [b"\x00\xff", b"long" * 50]]),
    }
    for name, tensor in samples.items():
        add("typed_" + name, typed(tensor.numpy() if name != "bfloat16" else tensor))
        add("content_" + name, tf.make_tensor_proto(tensor.numpy()))
    Proto = type(tf.make_tensor_proto(0))

    def splat(**fields):
        p = Proto(**fields)
        for n in (3, 2):
            p.tensor_shape.dim.add(size=n)
        return p

    add("splat_float", splat(dtype=1, float_val=[2.5]))
    add("splat_last_int", splat(dtype=3, int_val=[1, 2]))
    add("splat_string", splat(dtype=7, string_val=[b"x"]))
    add("zeros", splat(dtype=1))
    add("empty_strings", splat(dtype=7))
    with open(os.path.join(wire, "tensor_protos.json"), "w") as f:
        json.dump(cases, f, indent=0)


dtypes()
partitioned()
sharded()
objects()
protos()
