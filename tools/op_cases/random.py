# SPDX-License-Identifier: Apache-2.0
from op_cases.framework import *


@family
def random(c):
    exact = {"rtol": 0.0, "atol": 0.0}
    near = {"rtol": 1e-5, "atol": 1e-6}
    for op in ["StatelessRandomUniform", "StatelessRandomNormal", "StatelessTruncatedNormal"]:
        tolerance = exact if "Uniform" in op else near
        for dtype in (tf.float32, tf.float64, tf.half, tf.bfloat16):
            if dtype in (tf.half, tf.bfloat16) and "Uniform" not in op:
                tolerance = {"rtol": 1e-2, "atol": 1e-3}
            for shape in ([13], [2, 3], []):
                c.add(op, [np.array(shape, np.int32), np.array([5, -7], np.int64)], {"dtype": dtype},
                      note=dtype.name, **tolerance)
        c.add(op, [i32(0), i32(1, 2)], {"dtype": tf.float32}, note="empty")
        c.add(op, [i32(9), i32(1, 2)], {"dtype": tf.float32}, note="int32_seed",
              **(exact if "Uniform" in op else near))
        c.add(op, [i32(2), i32(1, 2, 3)], {"dtype": tf.float32}, note="bad", error="seed must have shape [2]")
        c.add(op, [i32(-2), i32(1, 2)], {"dtype": tf.float32}, note="bad_shape", error="")
    for dtype in (np.int32, np.int64):
        c.add("StatelessRandomUniformInt", [i32(11), i32(3, 4), dtype(-5), dtype(100)],
              {"dtype": tf.as_dtype(dtype)}, note=tf.as_dtype(dtype).name)
    c.add("StatelessRandomUniformInt", [i32(2), i32(3, 4), np.int32(5), np.int32(5)],
          {"dtype": tf.int32}, note="bad", error="Need minval < maxval, got 5 >= 5")
    for dtype in (tf.int32, tf.int64, tf.uint32, tf.uint64):
        c.add("StatelessRandomUniformFullInt", [i32(7), i32(3, 4)], {"dtype": dtype}, note=dtype.name)
    c.add("StatelessRandomGetKeyCounter", [np.array([11, 12], np.int64)])
    c.add("StatelessRandomGetKeyCounter", [i32(-11, 12)], note="int32")
    c.add("StatelessRandomGetKeyCounterAlg", [i32(1, 2)])
    key, counter = np.array([0x123456789ABCDEF], np.uint64), np.array([0xFFFFFFFFFFFFFFFE, 3], np.uint64)
    for op in ["StatelessRandomUniformV2", "StatelessRandomNormalV2", "StatelessTruncatedNormalV2"]:
        c.add(op, [i32(21), key, counter, np.int32(1)], {"dtype": tf.float32},
              **(exact if "Uniform" in op else near))
    c.add("StatelessRandomUniformV2", [i32(21), key, counter, np.int32(3)], {"dtype": tf.float32},
          note="auto", **exact)
    c.add("StatelessRandomUniformFullIntV2", [i32(5), key, counter, np.int32(1)], {"dtype": tf.uint64})
    c.add("StatelessRandomUniformIntV2", [i32(5), key, counter, np.int32(1), np.int64(-3), np.int64(9)],
          {"dtype": tf.int64})
    seed = 100
    for op in ["RandomUniform", "RandomStandardNormal", "TruncatedNormal"]:
        for dtype in (tf.float32, tf.float64):
            seed += 1
            c.add(op, [i32(4, 4)], {"seed": seed, "seed2": seed * 7, "dtype": dtype}, note=dtype.name,
                  **(exact if "Uniform" in op else near))
    for dtype in (np.int32, np.int64):
        seed += 1
        c.add("RandomUniformInt", [i32(9), dtype(-4), dtype(50)], {"seed": seed, "seed2": 2},
              note=tf.as_dtype(dtype).name)
    c.add("RandomShuffle", [np.arange(13, dtype=np.int32)], {"seed": 5, "seed2": 6})
    c.add("RandomShuffle", [np.arange(12, dtype=np.float32).reshape(6, 2)], {"seed": 7, "seed2": 6}, note="rows")
