# SPDX-License-Identifier: Apache-2.0
from op_cases.framework import *

NHWC = [("VALID", 1, 1), ("SAME", 1, 1), ("SAME", 2, 1), ("VALID", 2, 1), ("SAME", 1, 2)]


def sizes(*values):
    return i32(*values)


def forward(c):
    op = "Conv2D"
    for padding, stride, dilation in NHWC:
        for h, w, kh, kw, cin, cout in [(5, 6, 3, 3, 2, 4), (7, 5, 2, 3, 3, 5), (4, 4, 1, 1, 3, 2)]:
            c.add(op, [floats(2, h, w, cin), floats(kh, kw, cin, cout)],
                  {"strides": [1, stride, stride, 1], "padding": padding,
                   "dilations": [1, dilation, dilation, 1]}, note=f"{padding}_s{stride}_d{dilation}",
                  atol=2e-5)
    plain = {"strides": [1, 1, 1, 1], "padding": "SAME"}
    c.add(op, [floats(1, 12, 12, 16), floats(3, 3, 16, 20)], plain, note="larger", atol=1e-4)
    c.add(op, [floats(1, 3, 4, 6), floats(2, 2, 2, 9)], plain, note="groups", atol=2e-5)
    c.add(op, [floats(1, 3, 4, 6), floats(2, 2, 1, 6)], plain, note="depthwise", atol=2e-5)
    c.add(op, [floats(1, 3, 4, 6), floats(2, 2, 1, 12)], plain, note="depthwise2", atol=2e-5)
    c.add(op, [floats(1, 5, 6, 2), floats(3, 2, 2, 3)],
          {"strides": [1, 2, 1, 1], "padding": "EXPLICIT",
           "explicit_paddings": [0, 0, 1, 2, 0, 3, 0, 0]}, note="explicit", atol=2e-5)
    for dtype in [np.float64, np.float16, BF16, np.int32]:
        c.add(op, [any_numbers(dtype, 1, 4, 5, 3), any_numbers(dtype, 3, 2, 3, 4)], plain,
              note=tf.as_dtype(dtype).name, **({"rtol": 1e-2, "atol": 5e-2} if dtype in (
                  np.float16,) else {"rtol": 4e-2, "atol": 0.3} if dtype == BF16 else {}))
    for shape in [(0, 4, 4, 2), (2, 0, 4, 2)]:
        c.add(op, [floats(*shape), floats(3, 3, 2, 3)], plain, note="empty")
    c.add(op, [floats(1, 4, 4, 2), floats(3, 3, 2, 0)], plain, note="no_outputs")
    x, w = floats(1, 4, 4, 3), floats(3, 3, 3, 2)
    c.add(op, [x, floats(3, 3, 2, 2)], plain, note="depth",
          error="input depth must be evenly divisible by filter depth: 3 vs 2")
    c.add(op, [floats(4, 4, 3), w], plain, note="rank", error="input must be 4-dimensional")
    c.add(op, [x, floats(3, 3, 3)], plain, note="filter_rank", error="filter must be 4-dimensional")
    c.add(op, [x, w], {**plain, "strides": [1, 1, 1]}, note="strides",
          error="Sliding window strides field must specify 4 dimensions")
    c.add(op, [x, w], {**plain, "strides": [1, 1, 1, 2]}, note="depth_stride", code="UNIMPLEMENTED",
          error="Current implementation does not yet support strides in the batch and depth dimensions.")
    # Where TensorFlow needs oneDNN: the same numbers as with channels last.
    x, w = floats(2, 4, 5, 3), floats(2, 3, 3, 4)
    y = tf.nn.conv2d(x, w, [1, 1, 2, 1], "SAME")
    c.add(op, [np.transpose(x, (0, 3, 1, 2)), w],
          {"strides": [1, 1, 1, 2], "padding": "SAME", "data_format": "NCHW"}, note="nchw",
          expect=[tf.transpose(y, (0, 3, 1, 2))], atol=2e-5)
    op = "Conv3D"
    for padding, stride, dilation in NHWC:
        if dilation != 1:
            continue
        c.add(op, [floats(2, 4, 5, 3, 2), floats(2, 3, 2, 2, 3)],
              {"strides": [1, stride, stride, stride, 1], "padding": padding},
              note=f"{padding}_s{stride}", atol=2e-5)
    for dtype in [np.float64, np.float16]:
        c.add(op, [floats(1, 3, 3, 3, 2, dtype=dtype), floats(2, 2, 2, 2, 2, dtype=dtype)],
              {"strides": [1, 1, 1, 1, 1], "padding": "SAME"}, note=tf.as_dtype(dtype).name,
              **({"rtol": 1e-2, "atol": 5e-2} if dtype == np.float16 else {}))


def backward(c):
    for padding, stride, dilation in NHWC:
        if dilation != 1:
            continue  # not in TensorFlow's CPU kernels
        attrs = {"strides": [1, stride, stride, 1], "padding": padding,
                 "dilations": [1, dilation, dilation, 1]}
        x, w = floats(2, 6, 5, 3), floats(3, 2, 3, 4)
        dy = floats(*tf.nn.conv2d(x, w, attrs["strides"], padding, dilations=attrs["dilations"]).shape)
        note = f"{padding}_s{stride}_d{dilation}"
        c.add("Conv2DBackpropInput", [sizes(2, 6, 5, 3), w, dy], attrs, note=note, atol=2e-5)
        c.add("Conv2DBackpropFilter", [x, sizes(3, 2, 3, 4), dy], attrs, note=note, atol=5e-5)
    plain = {"strides": [1, 1, 1, 1], "padding": "SAME"}
    dy = floats(1, 4, 3, 6)
    c.add("Conv2DBackpropInput", [sizes(4, 3), floats(2, 2, 3, 6), dy], plain, note="two_sizes",
          atol=2e-5)
    c.add("Conv2DBackpropInput", [sizes(0, 4, 3, 3), floats(2, 2, 3, 6), floats(0, 4, 3, 6)], plain,
          note="empty")
    c.add("Conv2DBackpropInput", [sizes(1, 4, 3, 3), floats(2, 2, 3, 6), floats(1, 4, 4, 6)], plain,
          note="bad", error="")
    explicit = {"strides": [1, 2, 2, 1], "padding": "EXPLICIT",
                "explicit_paddings": [0, 0, 1, 2, 0, 1, 0, 0]}
    x, w = floats(1, 6, 5, 2), floats(3, 3, 2, 3)
    dy = floats(*tf.nn.conv2d(x, w, [1, 2, 2, 1], [[0, 0], [1, 2], [0, 1], [0, 0]]).shape)
    c.add("Conv2DBackpropInput", [sizes(1, 6, 5, 2), w, dy], explicit, note="explicit", atol=2e-5)
    c.add("Conv2DBackpropFilter", [x, sizes(3, 3, 2, 3), dy], explicit, note="explicit", atol=2e-5)
    for dtype in [np.float64, np.float16]:
        tolerance = {"rtol": 1e-2, "atol": 5e-2} if dtype == np.float16 else {}
        x, w = floats(1, 4, 3, 2, dtype=dtype), floats(2, 2, 2, 3, dtype=dtype)
        dy = floats(1, 4, 3, 3, dtype=dtype)
        c.add("Conv2DBackpropInput", [sizes(1, 4, 3, 2), w, dy], plain, note=tf.as_dtype(dtype).name,
              **tolerance)
        c.add("Conv2DBackpropFilter", [x, sizes(2, 2, 2, 3), dy], plain,
              note=tf.as_dtype(dtype).name, **tolerance)
    c.add("Conv2DBackpropInput", [sizes(1, 4, 3, 2), ints(2, 2, 2, 3), ints(1, 4, 3, 3)], plain,
          note="int32")
    for padding, stride in [("SAME", 1), ("VALID", 1), ("SAME", 2)]:
        attrs = {"strides": [1, stride, stride, stride, 1], "padding": padding}
        x, w = floats(2, 3, 4, 5, 2), floats(2, 3, 2, 2, 3)
        dy = floats(*tf.nn.conv3d(x, w, attrs["strides"], padding).shape)
        c.add("Conv3DBackpropInputV2", [sizes(2, 3, 4, 5, 2), w, dy], attrs,
              note=f"{padding}_s{stride}", atol=2e-5)
        c.add("Conv3DBackpropFilterV2", [x, sizes(2, 3, 2, 2, 3), dy], attrs,
              note=f"{padding}_s{stride}", atol=5e-5)


def depthwise(c):
    for padding, stride, dilation in NHWC:
        for m in [1, 2]:
            attrs = {"strides": [1, stride, stride, 1], "padding": padding,
                     "dilations": [1, dilation, dilation, 1]}
            x, w = floats(2, 5, 6, 3), floats(3, 2, 3, m)
            if dilation == 1:
                c.add("DepthwiseConv2dNative", [x, w], attrs, note=f"{padding}_s{stride}_m{m}",
                      atol=1e-5)
            y = tf.nn.depthwise_conv2d(x, w, attrs["strides"], padding, dilations=[dilation] * 2)
            if dilation != 1:
                c.add("DepthwiseConv2dNative", [x, w], attrs, note=f"dilated_m{m}", expect=[y],
                      atol=1e-5)
                continue
            dy = floats(*y.shape)
            c.add("DepthwiseConv2dNativeBackpropInput", [sizes(2, 5, 6, 3), w, dy], attrs,
                  note=f"{padding}_s{stride}_m{m}", atol=2e-5)
            c.add("DepthwiseConv2dNativeBackpropFilter", [x, sizes(3, 2, 3, m), dy], attrs,
                  note=f"{padding}_s{stride}_m{m}", atol=2e-5)
    plain = {"strides": [1, 1, 1, 1], "padding": "SAME"}
    c.add("DepthwiseConv2dNative", [floats(1, 4, 4, 37), floats(3, 3, 37, 1)], plain, note="wide",
          atol=1e-5)
    for dtype in [np.float64, np.float16, BF16]:
        c.add("DepthwiseConv2dNative", [floats(1, 3, 4, 2, dtype=dtype), floats(2, 2, 2, 2, dtype=dtype)],
              plain, note=tf.as_dtype(dtype).name,
              **({} if dtype == np.float64 else {"rtol": 4e-2, "atol": 0.1}))
    c.add("DepthwiseConv2dNative", [floats(0, 4, 4, 3), floats(3, 3, 3, 1)], plain, note="empty")
    c.add("DepthwiseConv2dNative", [floats(1, 4, 4, 3), floats(3, 3, 2, 1)], plain, note="depth",
          error="input and filter must have the same depth: 3 vs 2")


@family
def conv(c):
    forward(c)
    backward(c)
    depthwise(c)
