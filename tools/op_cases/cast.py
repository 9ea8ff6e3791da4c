# SPDX-License-Identifier: Apache-2.0
from op_cases.framework import *


@family
def cast(c):
    types = [np.float32, np.float64, np.float16, BF16, np.int8, np.int16, np.int32, np.int64, np.uint8,
             np.uint16, np.uint32, np.uint64, np.bool_]
    for source in types:
        if source == np.bool_:
            x = np.array([True, False])
        elif source in FLOATS:
            x = np.array([0, -0.0, 1.5, -1.5, 2.5, 100.75, 3.999], np.float64).astype(source)
        else:
            x = np.array([0, 1, 100, 120, -1 if np.issubdtype(source, np.signedinteger) else 3],
                         np.int64).astype(source)
        for target in types:
            # Negative floats to unsigned are undefined in C++ and differ between machines.
            value = np.abs(x) if source in FLOATS and np.issubdtype(target, np.unsignedinteger) else x
            c.add("Cast", [value], {"DstT": tf.as_dtype(target)},
                  note=f"{tf.as_dtype(source).name}_to_{tf.as_dtype(target).name}")
    huge = np.array([NAN, INF, -INF, 1e20, -1e20, 2147483648.0, -2147483649.0], np.float64)
    for source in (np.float32, np.float64):
        for target in (np.int32, np.int64):
            c.add("Cast", [huge.astype(source)], {"DstT": tf.as_dtype(target)}, note="huge")
    c.add("Cast", [np.array([NAN, 0.1, -0.0], np.float32)], {"DstT": tf.bool}, note="nan")
    c.add("Cast", [np.array([300, -200, 70000], np.int32)], {"DstT": tf.int8}, note="narrow")
    c.add("Cast", [np.array([1e6, 65519, 65520, 1e-8], np.float32)], {"DstT": tf.half}, note="half")
    c.add("Cast", [np.array([2**63, 2**64 - 1], np.uint64)], {"DstT": tf.float32}, note="u64")
    c.add("Cast", [floats(0, 2)], {"DstT": tf.int32}, note="empty")
    c.add("Bitcast", [np.array([1.0, -2.0], np.float32)], {"type": tf.int32})
    c.add("Bitcast", [np.array([1.0, -2.0], np.float32)], {"type": tf.uint8}, note="smaller")
    c.add("Bitcast", [np.arange(8, dtype=np.uint8).reshape(2, 4)], {"type": tf.int32}, note="larger")
    c.add("Bitcast", [np.arange(6, dtype=np.uint8).reshape(2, 3)], {"type": tf.int32}, note="bad", error="")
    real = [1.00390625, 3.14159265, -2.7182818, 65519.0, 1e-30, NAN, INF, -INF, 0.0, 123456.789]
    for src, dst in [(np.float32, tf.float16), (np.float32, tf.bfloat16), (np.float64, tf.float32),
                     (np.float64, tf.float16), (np.float64, tf.bfloat16)]:
        c.add("Cast", [np.array(real, src)], {"DstT": dst, "Truncate": True},
              note=f"truncates_{tf.as_dtype(src).name}_{dst.name}")
