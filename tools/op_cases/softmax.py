# SPDX-License-Identifier: Apache-2.0
from op_cases.framework import *


@family
def softmax(c):
    for op in ["Softmax", "LogSoftmax"]:
        for dtype in FLOATS:
            c.add(op, [floats(3, 10, dtype=dtype)], note=tf.as_dtype(dtype).name)
        c.add(op, [floats(7)], note="vector")
        c.add(op, [floats(2, 3, 5)], note="rank3")
        c.add(op, [floats(0, 5)], note="empty")
        c.add(op, [floats(2, 300)], note="wide")
        c.add(op, [np.array([[1000.0, 0, -1000], [NAN, 1, 2], [-INF, 0, 1]], np.float32)],
              note="special")
        c.add(op, [np.float32(1)], note="scalar", error="logits must have >= 1 dimension")
    op = "SoftmaxCrossEntropyWithLogits"
    for dtype in FLOATS:
        labels = tf.nn.softmax(floats(4, 6)).numpy().astype(dtype)
        c.add(op, [floats(4, 6, dtype=dtype), labels], note=tf.as_dtype(dtype).name)
    one_hot = np.eye(5, dtype=np.float32)[[0, 3, 4]]
    c.add(op, [floats(3, 5), one_hot], note="onehot")
    c.add(op, [floats(3, 5), one_hot[:1]], note="bcast_labels")
    c.add(op, [floats(1, 5), one_hot], note="bcast_logits")
    c.add(op, [floats(0, 5), floats(0, 5)], note="empty")
    c.add(op, [floats(3, 5), floats(3, 4)], note="bad", error="logits and labels must be broadcastable")
    c.add(op, [floats(5), floats(5)], note="bad_rank", error="")
    op = "SparseSoftmaxCrossEntropyWithLogits"
    for dtype in FLOATS:
        c.add(op, [floats(4, 6, dtype=dtype), i32(0, 5, 2, 3)], note=tf.as_dtype(dtype).name)
    c.add(op, [floats(4, 6), i32(0, 5, 2, 3).astype(np.int64)], note="int64")
    c.add(op, [floats(40, 10, low=-20, high=20), ints(40, low=0, high=10)], note="many")
    c.add(op, [floats(0, 6), np.zeros(0, np.int32)], note="empty")
    c.add(op, [floats(2, 6), i32(0, 6)], note="label",
          error="Received a label value of 6 which is outside the valid range of [0, 6)")
    c.add(op, [floats(2, 6), i32(0, -1)], note="negative", error="Received a label value of -1")
    c.add(op, [floats(2, 6), i32(0)], note="rows", error="must have the same first dimension")
    c.add(op, [floats(6), i32(0)], note="rank", error="logits must be 2-D, but got shape [6]")
