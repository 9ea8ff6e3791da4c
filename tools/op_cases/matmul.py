# SPDX-License-Identifier: Apache-2.0
from op_cases.framework import *


@family
def matmul(c):
    sizes = [(2, 3, 4), (1, 5, 7), (3, 1, 2), (7, 8, 1), (6, 16, 32), (13, 17, 35), (0, 3, 2),
             (2, 0, 3), (2, 3, 0)]
    for m, k, n in sizes:
        for ta, tb in [(False, False), (True, False), (False, True), (True, True)]:
            if m * k * n > 1000 and ta != tb:
                continue
            a = floats(*((k, m) if ta else (m, k)))
            b = floats(*((n, k) if tb else (k, n)))
            c.add("MatMul", [a, b], {"transpose_a": ta, "transpose_b": tb}, note=f"{m}x{k}x{n}",
                  atol=1e-4)
    for dtype in [np.float64, np.float16, BF16, np.int32, np.int64]:
        c.add("MatMul", [any_numbers(dtype, 2, 3), any_numbers(dtype, 3, 4)],
              note=tf.as_dtype(dtype).name)
    c.add("MatMul", [floats(2, 3), floats(4, 5)], note="bad",
          error="Matrix size-incompatible: In[0]: [2,3], In[1]: [4,5]")
    c.add("MatMul", [floats(3), floats(3, 2)], note="bad_rank", error="In[0]")
    for a, b, tx, ty in [((2, 3, 4), (2, 4, 5), False, False), ((2, 3, 4), (2, 5, 4), False, True),
                         ((2, 4, 3), (2, 4, 5), True, False), ((3, 2, 3), (3, 1), False, False),
                         ((2, 1, 3, 4), (5, 4, 2), False, False), ((0, 2, 3), (0, 3, 2), False, False),
                         ((4, 2, 3), (1, 3, 2), False, False)]:
        op = "BatchMatMulV2"
        c.add(op, [floats(*a), floats(*b)], {"adj_x": tx, "adj_y": ty}, note="f32")
    c.add("BatchMatMul", [floats(2, 2, 3), floats(2, 3, 2)])
    c.add("BatchMatMulV2", [ints(2, 2, 3), ints(2, 3, 2)], note="int32")
    c.add("BatchMatMulV2", [floats(2, 2, 3), floats(3, 3, 2)], note="bad", error="")
    c.add("BatchMatMulV2", [floats(2, 2, 3), floats(2, 4, 2)], note="bad_inner", error="")
    for shape in [(2, 3), (2, 2, 3), (0, 3), (4, 33)]:
        c.add("BiasAdd", [floats(*shape), floats(shape[-1])], note="f32")
    c.add("BiasAdd", [floats(2, 3, 4), floats(3)], {"data_format": "NCHW"}, note="nchw")
    c.add("BiasAdd", [ints(2, 3), ints(3)], note="int32")
    c.add("BiasAdd", [floats(2, 3, dtype=np.float16), floats(3, dtype=np.float16)], note="half")
    c.add("BiasAdd", [floats(2, 4), floats(3)], note="bad",
          error="Must provide as many biases as the last dimension of the input tensor: [3] vs. [2,4]")
    c.add("BiasAdd", [floats(4), floats(4)], note="bad_rank", error="Input tensor must be at least 2D")
    for shape in [(2, 3), (5, 2, 3), (33, 40)]:
        c.add("BiasAddGrad", [floats(*shape)], note="f32", atol=1e-4)
    c.add("BiasAddGrad", [floats(2, 3, 4)], {"data_format": "NCHW"}, note="nchw")
    c.add("BiasAddGrad", [floats(6, 3, dtype=np.float64)], note="f64")
    for name, function in [(None, lambda x: x), ("Relu", tf.nn.relu), ("Relu6", tf.nn.relu6),
                           ("Elu", tf.nn.elu), ("Tanh", tf.tanh), ("Sigmoid", tf.sigmoid),
                           ("LeakyRelu", lambda x: tf.nn.leaky_relu(x, 0.3))]:
        for m, k, n in [(1, 5, 9), (7, 12, 35)]:
            a, b, bias = floats(m, k), floats(k, n), floats(n)
            attrs = {"fused_ops": ["BiasAdd"] + ([name] if name else [])}
            if name == "LeakyRelu":
                attrs["leakyrelu_alpha"] = 0.3
            c.add("_FusedMatMul", [a, b, bias], attrs, note=name or "BiasAdd", atol=1e-4,
                  expect=[function(tf.nn.bias_add(tf.matmul(a, b), bias))])
