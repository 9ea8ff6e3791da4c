# SPDX-License-Identifier: Apache-2.0
from op_cases.framework import *

NONE = np.zeros(0, np.float32)


def positive(*shape):
    return floats(*shape, low=0.2, high=2.0)


def inference(c):
    # What lies behind the variance is not defined in TensorFlow; ours is mean and variance again.
    for op in ["FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3"]:
        args = [floats(2, 3, 4, 5), floats(5), floats(5), floats(5), positive(5)]
        attrs = {"is_training": False, "epsilon": 1e-3}
        y = getattr(raw, op)(x=tf.constant(args[0]), scale=args[1], offset=args[2],
                             mean=args[3], variance=args[4], **attrs)[0]
        expect = [y, args[3], args[4], args[3], args[4]] + ([np.float32(0)] if "V3" in op else [])
        c.add(op, args, attrs, note="inference", expect=expect)


def training(c):
    op = "FusedBatchNormV3"
    for shape, note in [((4, 3, 2, 3), "training"), ((1, 1, 1, 2), "one")]:
        n = shape[-1]
        args = [floats(*shape), floats(n), floats(n), NONE, NONE]
        c.add(op, args, {"epsilon": 1e-3}, note=note, atol=1e-5)
        c.add("FusedBatchNorm", args, {"epsilon": 1e-3}, note=note, atol=1e-5)
    args = [floats(4, 3, 2, 3), floats(3), floats(3), floats(3), positive(3)]
    c.add(op, args, {"exponential_avg_factor": 0.1}, note="moving", atol=1e-5)
    x = floats(2, 3, 4, 2)
    args = [np.transpose(x, (0, 3, 1, 2)), floats(2), floats(2), NONE, NONE]
    c.add(op, args, {"data_format": "NCHW"}, note="nchw", atol=1e-5)
    args = [floats(2, 2, 3, 4, 2), floats(2), floats(2), NONE, NONE]
    c.add(op, args, {"data_format": "NDHWC"}, note="ndhwc", atol=1e-5)
    for dtype in [np.float16, BF16]:
        args = [floats(2, 3, 4, 3, dtype=dtype), floats(3), floats(3), NONE, NONE]
        c.add(op, args, {"epsilon": 1e-3}, note=tf.as_dtype(dtype).name, atol=4e-2)
    x = floats(1, 2, 2, 3)
    c.add("FusedBatchNorm", [floats(2, 3), floats(3), floats(3), NONE, NONE], note="rank",
          error="input must be 4")
    c.add(op, [x, floats(2), floats(3), NONE, NONE], note="scale",
          error="scale must have the same number of elements as the channels of x, got 2 and 3")
    c.add(op, [x, floats(3), floats(3), floats(2), floats(3)], {"is_training": False}, note="mean",
          error="mean must have the same number of elements as the channels of x, got 2 and 3")


def gradient(c):
    for training in [True, False]:
        args = [floats(3, 2, 4, 3), floats(3, 2, 4, 3), floats(3), floats(3), positive(3)]
        attrs = {"is_training": training, "epsilon": 1e-2}
        note = "training" if training else "inference"
        c.add("FusedBatchNormGrad", args, attrs, note=note, atol=2e-5, rtol=1e-4)
        c.add("FusedBatchNormGradV3", args + [floats(1)], attrs, note=note, atol=2e-5, rtol=1e-4)


@family
def normalization(c):
    inference(c)
    training(c)
    gradient(c)
    for radius in [1, 2, 5]:
        attrs = {"depth_radius": radius, "bias": 1.5, "alpha": 0.3, "beta": 0.75}
        x = floats(2, 2, 3, 7)
        c.add("LRN", [x], attrs, note=f"radius{radius}")
        y = raw.LRN(input=x, **attrs)
        c.add("LRNGrad", [floats(2, 2, 3, 7), x, y], attrs, note=f"radius{radius}", atol=1e-5)
    c.add("LRN", [floats(1, 2, 2, 4, dtype=np.float16)], note="float16")
    c.add("LRN", [floats(0, 2, 2, 4)], note="empty")
    c.add("LRN", [floats(2, 2, 4)], note="rank", error="in must be 4-dimensional")
