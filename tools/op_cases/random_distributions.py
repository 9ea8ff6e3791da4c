# SPDX-License-Identifier: Apache-2.0
from op_cases.framework import *


@family
def random_distributions(c):
    exact = {"rtol": 1e-6, "atol": 1e-7}
    key, counter, alg = np.array([0x123456789ABCDEF], np.uint64), np.array([5, 3], np.uint64), np.int32(1)
    seed = np.array([7, -9], np.int64)
    for dtype in (np.float32, np.float64, np.float16):
        name = np.dtype(dtype).name
        near = exact if dtype != np.float16 else {"rtol": 2e-3, "atol": 1e-4}
        alpha = np.array([0.4, 1.0, 2.5, 30.0], dtype)
        c.add("StatelessRandomGammaV2", [i32(6, 4), seed, alpha], note=name, **near)
        c.add("StatelessRandomGammaV3", [i32(3, 2, 4), key, counter, alg, alpha], note=name, **near)
        c.add("RandomGamma", [i32(5), alpha], {"seed": 3, "seed2": 11}, note=name, **near)
        c.add("RandomPoissonV2", [i32(6), np.array([0.5, 4, 12, 90], dtype)], {"seed": 3, "seed2": 11, "dtype": tf.int64},
              note=name)
    for dtype in (np.float32, np.float64, np.int32, np.int64, np.float16):
        name = np.dtype(dtype).name
        for out in (tf.int32, tf.int64, tf.float32, tf.float64, tf.half):
            c.add("StatelessRandomPoisson", [i32(7, 3), seed, np.array([1, 9, 25], dtype)], {"dtype": out}, note=f"{name}_{out.name}")
    for dtype in (np.float32, np.float64, np.float16):
        counts, probs = np.array([[3], [40], [1000], [0]], dtype), np.array([0.05, 0.5, 0.93, 0, 1, 0.99], dtype)
        for out in (tf.int32, tf.int64, tf.float32, tf.float64, tf.half):
            c.add("StatelessRandomBinomial", [i32(5, 4, 6), seed, counts, probs], {"dtype": out},
                  note=f"{np.dtype(dtype).name}_{out.name}")
    c.add("StatelessRandomBinomial", [i32(300), seed, np.float64(9), np.float64(0.3)], note="inversion")
    c.add("StatelessRandomBinomial", [i32(0, 2), seed, np.float32([3, 4]), np.float32(0.3)], note="empty")
    c.add("StatelessRandomBinomial", [i32(3), seed, np.float32([3, 4]), np.float32(0.3)], note="end", error="must end with")
    logits = floats(3, 5)
    for dtype in (np.float32, np.float64, np.float16, BF16):
        for out in (tf.int32, tf.int64):
            c.add("StatelessMultinomial", [logits.astype(dtype), np.int32(9), seed], {"output_dtype": out},
                  note=f"{tf.as_dtype(dtype).name}_{out.name}")
        c.add("Multinomial", [logits[:1].astype(dtype), np.int32(11)], {"seed": 5, "seed2": 9}, note=tf.as_dtype(dtype).name)
    c.add("StatelessMultinomial", [np.float32([[0, -INF, 1, NAN]]), np.int32(9), seed], note="infinite")
    c.add("StatelessMultinomial", [floats(3), np.int32(9), seed], note="rank", error="logits should be a matrix")
    c.add("StatelessMultinomial", [floats(1, 3), np.int32(-1), seed], note="negative", error="should be non-negative")
    c.add("StatelessRandomGammaV2", [i32(3), seed, floats(2)], note="end", error="must end with")
    c.add("StatelessRandomGammaV2", [i32(0, 2), seed, floats(2)], note="empty")
    for dtype in (np.float32, np.int64, np.uint8, np.complex64):
        c.add("StatelessShuffle", [any_numbers(dtype, 7, 2), key, counter, alg], note=np.dtype(dtype).name)
    c.add("StatelessShuffle", [np.array(["a", "b", "c", "d"]), key, counter, np.int32(3)], note="string")
    c.add("RngReadAndSkip", [None, alg, np.uint64(5)], variables={0: np.int64([11, -12, 13])})
    c.add("RngReadAndSkip", [None, alg, np.uint64(1 << 62)], variables={0: np.int64([-1, 7, 13])}, note="carry")
