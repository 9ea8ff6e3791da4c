# SPDX-License-Identifier: Apache-2.0
from op_cases.framework import *

QUANTIZED = [tf.qint8, tf.quint8, tf.qint16, tf.quint16, tf.qint32]
STORED = {tf.qint8: np.int8, tf.quint8: np.uint8, tf.qint16: np.int16, tf.quint16: np.uint16, tf.qint32: np.int32}
X = np.array([-7, -6, -3.2, -0.5, -0.05, 0, 0.04, 0.5, 1.37, 2.5, 5.99, 6, 8], np.float32)
F = np.float32


def quantized(values, dtype):
    return tf.bitcast(tf.constant(np.asarray(values, STORED[dtype])), dtype)


def some(dtype, *shape):
    limits = np.iinfo(STORED[dtype])
    return quantized(RNG.randint(limits.min, limits.max, shape, np.int64), dtype)


def fake(c):
    odd = np.array([NAN, INF, -INF, 1e30], F)
    for attrs in ({}, {"min": -3.0, "max": 5.0, "num_bits": 4, "narrow_range": True}, {"min": 1.0, "max": 3.0, "num_bits": 16},
                  {"min": -3.0, "max": -1.0, "num_bits": 2}):
        c.add("FakeQuantWithMinMaxArgs", [X], attrs)
        c.add("FakeQuantWithMinMaxArgsGradient", [X[::-1].copy(), X], attrs)
    c.add("FakeQuantWithMinMaxArgs", [odd[1:]], note="special")
    c.add("FakeQuantWithMinMaxArgs", [np.zeros([0, 2], F)], note="empty")
    c.add("FakeQuantWithMinMaxArgs", [X], {"min": 2.0, "max": 1.0}, error="min has to be smaller than max")
    c.add("FakeQuantWithMinMaxArgs", [X], {"num_bits": 17}, error="num_bits must be between 2 and 16, inclusive")
    c.add("FakeQuantWithMinMaxArgs", [X], {"num_bits": 1}, error="num_bits must be between 2 and 16, inclusive")
    c.add("FakeQuantWithMinMaxArgsGradient", [X[:2], X], error="same")
    for lo, hi in ((-2.5, 3.1), (0, 0), (0.5, 4), (-3, 0)):
        for attrs in ({}, {"num_bits": 5, "narrow_range": True}):
            c.add("FakeQuantWithMinMaxVars", [X, F(lo), F(hi)], attrs)
            c.add("FakeQuantWithMinMaxVarsGradient", [X[::-1].copy(), X, F(lo), F(hi)], attrs)
    x, lo, hi = floats(2, 3, 4, high=5), np.array([-1, -2, 0, 0], F), np.array([1, 0.5, 3, 0], F)
    for shaped in (x, x[0], x[0, 0], np.zeros([0, 4], F)):
        c.add("FakeQuantWithMinMaxVarsPerChannel", [shaped, lo, hi])
        c.add("FakeQuantWithMinMaxVarsPerChannelGradient", [shaped * 2, shaped, lo, hi], {"narrow_range": True})
    c.add("FakeQuantWithMinMaxVars", [X, lo, hi], error="must be rank 0")
    c.add("FakeQuantWithMinMaxVarsPerChannel", [x, lo[:2], hi], error="")
    c.add("FakeQuantWithMinMaxVarsPerChannel", [x, F(0), hi], error="must be rank 1")


def quantize(c):
    ranges = ((-6.0, 6.0), (0.0, 1.0), (1.0, 3.0), (-5.0, -2.0), (-0.1, 7.3), (0.0, 0.0))
    for dtype in QUANTIZED:
        for mode in ("MIN_COMBINED", "MIN_FIRST", "SCALED"):
            for lo, hi in ranges:
                c.add("QuantizeV2", [X, F(lo), F(hi)], {"T": dtype, "mode": mode})
    for dtype in (tf.qint8, tf.quint8, tf.qint32):
        c.add("QuantizeV2", [X, F(-6), F(6)], {"T": dtype, "mode": "SCALED", "round_mode": "HALF_TO_EVEN", "narrow_range": True})
        for mode in ("MIN_COMBINED", "SCALED"):
            x = floats(2, 3, 2)
            c.add("QuantizeV2", [x, np.array([-1, -2, 0], F), np.array([1, 0.5, 3], F)], {"T": dtype, "mode": mode, "axis": 1})
    c.add("QuantizeV2", [X, F(-6), F(-5.999)], {"T": tf.qint8, "ensure_minimum_range": 0.5})
    c.add("QuantizeV2", [np.array([NAN, INF, -INF], F)[1:], F(-6), F(6)], {"T": tf.quint8}, note="special")
    c.add("QuantizeV2", [np.zeros([0], F), F(-6), F(6)], {"T": tf.quint8}, note="empty")
    c.add("QuantizeV2", [X, F(6), F(-6)], {"T": tf.quint8}, error="input_max_range must be larger than input_min_range")
    c.add("QuantizeV2", [X, F(-6), F(6)], {"T": tf.quint8, "round_mode": "HALF_TO_EVEN"},
          error="Round mode 'HALF_TO_EVEN' only supported for mode 'SCALED'")
    c.add("QuantizeV2", [X, np.zeros([2], F), np.zeros([3], F)], {"T": tf.quint8, "axis": 0}, error="")
    c.add("QuantizeV2", [X, F(-6), F(6)], {"T": tf.quint8, "axis": 3}, error="")


def dequantize(c):
    for dtype in QUANTIZED:
        limits = np.iinfo(STORED[dtype])
        x = quantized([limits.min, limits.min + 1, 0, 1, 7, limits.max // 2, limits.max - 1, limits.max], dtype)
        for mode in ("MIN_COMBINED", "MIN_FIRST", "SCALED"):
            for lo, hi in ((-6.0, 6.0), (0.0, 1.0), (-0.1, 7.3), (2.0, 2.0)):
                c.add("Dequantize", [x, F(lo), F(hi)], {"mode": mode})
            c.add("Dequantize", [x, F(-3), F(6)], {"mode": mode, "narrow_range": True})
            if mode == "MIN_FIRST":
                continue
            c.add("Dequantize", [some(dtype, 2, 3, 2), np.array([-1, -2, 0], F), np.array([1, 0.5, 3], F)], {"mode": mode, "axis": 1})
        c.add("Dequantize", [x, F(-3), F(6)], {"dtype": tf.bfloat16})
    c.add("Dequantize", [some(tf.quint8, 0), F(0), F(1)], note="empty")
    c.add("Dequantize", [some(tf.quint8, 3), F(-3), F(6)], {"dtype": tf.bfloat16, "mode": "SCALED"}, error="When output type is bfloat16")
    one = np.ones([3], F)
    c.add("Dequantize", [some(tf.quint8, 3), -one, one], {"mode": "MIN_FIRST", "axis": 0}, error="MIN_FIRST mode is not implemented", code="UNIMPLEMENTED")
    c.add("QuantizeV2", [one, -one, one], {"T": tf.quint8, "mode": "MIN_FIRST", "axis": 0}, error="MIN_FIRST mode is not implemented", code="UNIMPLEMENTED")
    c.add("Dequantize", [some(tf.quint8, 3), np.zeros([2], F), np.ones([2], F)], error="")
    c.add("Dequantize", [some(tf.quint8, 3), F(0), F(1)], {"axis": 3}, error="")


def round_trip(c):
    for dtype in (np.float32, np.float64):
        x = X.astype(dtype)
        zero, lo, hi = dtype(0), dtype(-4), dtype(6)
        for attrs in ({}, {"num_bits": 4}, {"signed_input": False}, {"narrow_range": True, "round_mode": "HALF_UP"}, {"num_bits": 16}):
            for op in ("QuantizeAndDequantizeV2", "QuantizeAndDequantizeV4"):
                c.add(op, [x, zero, zero], attrs)
                c.add(op, [x, lo, hi], {**attrs, "range_given": True})
        slices = floats(2, 3, 2, dtype=dtype)
        low, high = np.array([-1, -2, 0], dtype), np.array([1, 0.5, 3], dtype)
        c.add("QuantizeAndDequantizeV2", [slices, low, high], {"axis": 1})
        c.add("QuantizeAndDequantizeV4", [slices, low, high], {"axis": 1})
        c.add("QuantizeAndDequantizeV3", [slices, low, high, I32(5)], {"axis": 1, "narrow_range": True})
        c.add("QuantizeAndDequantizeV3", [x, lo, hi, I32(8)])
        c.add("QuantizeAndDequantizeV3", [x, lo, hi, I32(7)], {"range_given": False, "signed_input": False})
        c.add("QuantizeAndDequantizeV4Grad", [x[::-1].copy(), x, lo, hi])
        c.add("QuantizeAndDequantizeV4Grad", [slices * 2, slices, low, high], {"axis": 1})
    c.add("QuantizeAndDequantizeV2", [np.zeros([0], F), F(0), F(0)], note="empty")
    c.add("QuantizeAndDequantizeV2", [np.zeros([3], F), F(0), F(0)], note="zeros")
    c.add("QuantizeAndDequantizeV2", [X, F(3), F(1)], {"range_given": True}, error="Invalid range: input_min")
    c.add("QuantizeAndDequantizeV2", [X, F(3), F(1)], {"num_bits": 62}, error="num_bits is out of range: 62")
    c.add("QuantizeAndDequantizeV3", [X, F(-1), F(1), I32(99)], error="num_bits is out of range: 99")


def arithmetic(c):
    ranges = [F(-3), F(3), F(-1), F(4)]
    u = lambda *shape: some(tf.quint8, *shape)
    for ta in (False, True):
        for tb in (False, True):
            c.add("QuantizedMatMul", [u(*((4, 3) if ta else (3, 4))), u(*((2, 4) if tb else (4, 2))), *ranges],
                  {"transpose_a": ta, "transpose_b": tb, "Toutput": tf.qint32, "Tactivation": tf.quint8})
    c.add("QuantizedMatMul", [u(3, 4), u(3, 2), *ranges], {"Toutput": tf.qint32, "Tactivation": tf.quint8}, error="")
    for a, b in (((4,), (4,)), ((1,), (4,)), ((4,), (1,)), ((3, 4), (4,)), ((4,), (3, 4))):
        c.add("QuantizedMul", [u(*a), u(*b), *ranges], {"Toutput": tf.qint32})
    for dtype in (tf.quint8, tf.qint32):
        for lo, hi in ((-3.0, 3.0), (-1.0, 9.0), (0.0, 20.0)):
            for op in ("QuantizedRelu", "QuantizedRelu6"):
                c.add(op, [some(dtype, 12), F(lo), F(hi)], {"out_type": dtype})
    wide = quantized([-2**31, 2**31 - 1, 0, 1, -1, 12345678, -987654321], tf.qint32)
    narrow = quantized([-40000, 20, 30000, 0, 1, 999999], tf.qint32)
    for x in (wide, narrow, quantized([5, 6], tf.qint32)):
        for lo, hi in ((-1000.0, 1000.0), (-3.0, 70000.0)):
            c.add("RequantizationRange", [x, F(lo), F(hi)])


@family
def quantize_family(c):
    for part in (fake, quantize, dequantize, round_trip, arithmetic):
        part(c)


FAMILIES["quantize"] = FAMILIES.pop("quantize_family")
