# SPDX-License-Identifier: Apache-2.0
from op_cases.framework import *

WINDOWS = [("VALID", 2, 2), ("SAME", 2, 2), ("SAME", 3, 2), ("VALID", 3, 1), ("SAME", 3, 1)]


def attrs_of(padding, size, stride, spatial=2):
    return {"ksize": [1] + [size] * spatial + [1], "strides": [1] + [stride] * spatial + [1],
            "padding": padding}


def forward(c):
    for padding, size, stride in WINDOWS:
        attrs = attrs_of(padding, size, stride)
        note = f"{padding}_{size}_s{stride}"
        for channels in [1, 3, 17]:
            x = floats(2, 5, 7, channels)
            c.add("MaxPool", [x], attrs, note=note)
            c.add("AvgPool", [x], attrs, note=note)
        c.add("MaxPoolWithArgmax", [x], attrs, note=note)
        c.add("MaxPoolWithArgmax", [x], {**attrs, "include_batch_in_index": True,
                                         "Targmax": np.int32}, note=note + "_batch")
        c.add("MaxPoolV2", [x, i32(*attrs["ksize"]), i32(*attrs["strides"])], {"padding": padding},
              note=note)
        attrs = attrs_of(padding, size, stride, 3)
        c.add("MaxPool3D", [floats(2, 4, 5, 3, 2)], attrs, note=note)
        c.add("AvgPool3D", [floats(2, 4, 5, 3, 2)], attrs, note=note)
    attrs = attrs_of("SAME", 2, 2)
    for dtype in [np.float64, np.float16, BF16] + INTS[:5]:
        c.add("MaxPool", [any_numbers(dtype, 1, 3, 4, 2)], attrs, note=tf.as_dtype(dtype).name)
        if dtype in FLOATS:
            c.add("AvgPool", [any_numbers(dtype, 1, 3, 4, 2)], attrs, note=tf.as_dtype(dtype).name)
    c.add("MaxPool", [np.array([NAN, 1, -INF, 2, NAN, NAN, NAN, NAN, INF, -INF, 0, -0.0],
                               np.float32).reshape(1, 6, 2, 1)], attrs, note="special")
    c.add("MaxPool", [floats(1, 2, 3, 6)], {"ksize": [1, 1, 1, 3], "strides": [1, 1, 1, 3],
                                            "padding": "VALID"}, note="channels")
    c.add("MaxPool", [floats(1, 4, 5, 2)],
          {**attrs_of("EXPLICIT", 3, 2), "explicit_paddings": [0, 0, 1, 0, 2, 1, 0, 0]},
          note="explicit")
    c.add("MaxPool", [floats(0, 4, 5, 2)], attrs, note="empty")
    c.add("AvgPool", [floats(0, 4, 5, 2)], attrs, note="empty")
    c.add("AvgPool", [floats(2, 12, 12, 2)], attrs_of("VALID", 12, 1), note="global")
    c.add("MaxPool", [floats(4, 5, 2)], attrs, note="rank", error="")
    c.add("AvgPool", [floats(4, 5, 2)], attrs, note="rank", error="")
    c.add("MaxPool", [floats(2, 4, 5, 2)], {**attrs, "ksize": [2, 2, 2, 1]}, note="batch",
          code="UNIMPLEMENTED", error="Pooling is not yet supported on the batch dimension.")


def backward(c):
    for padding, size, stride in WINDOWS:
        attrs = attrs_of(padding, size, stride)
        note = f"{padding}_{size}_s{stride}"
        x = floats(2, 5, 7, 3)
        y = raw.MaxPool(input=tf.constant(x), **attrs)
        dy = floats(*y.shape)
        c.add("MaxPoolGrad", [x, y, dy], attrs, note=note)
        c.add("MaxPoolGradV2", [x, y, dy, i32(*attrs["ksize"]), i32(*attrs["strides"])],
              {"padding": padding}, note=note)
        c.add("AvgPoolGrad", [i32(2, 5, 7, 3), dy], attrs, note=note)
        attrs = attrs_of(padding, size, stride, 3)
        x = floats(1, 4, 5, 3, 2)
        y = raw.MaxPool3D(input=tf.constant(x), **attrs)
        c.add("MaxPool3DGrad", [x, y, floats(*y.shape)], attrs, note=note)
        c.add("AvgPool3DGrad", [i32(1, 4, 5, 3, 2), floats(*y.shape)], attrs, note=note)
    for dtype in [np.float64, np.float16]:
        x = floats(1, 3, 4, 2, dtype=dtype)
        attrs = attrs_of("SAME", 2, 2)
        y = raw.MaxPool(input=tf.constant(x), **attrs)
        c.add("MaxPoolGrad", [x, y, floats(*y.shape, dtype=dtype)], attrs,
              note=tf.as_dtype(dtype).name)
        c.add("AvgPoolGrad", [i32(1, 3, 4, 2), floats(*y.shape, dtype=dtype)], attrs,
              note=tf.as_dtype(dtype).name)


@family
def pooling(c):
    forward(c)
    backward(c)
