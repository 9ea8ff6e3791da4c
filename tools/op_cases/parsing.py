# SPDX-License-Identifier: Apache-2.0
import gzip

from op_cases.framework import *

FLOAT, INT, TEXT = tf.float32, tf.int64, tf.string
NO_FLOAT, NO_INT, NO_TEXT = np.zeros([0], np.float32), np.zeros([0], np.int64), tf.zeros([0], tf.string)


def s(*values):
    return np.array(values, dtype=object)


def example(**features):
    e = tf.train.Example()
    for name, values in features.items():
        feature = e.features.feature[name]
        if values is None:
            continue
        if not values:
            feature.float_list.SetInParent()
        elif isinstance(values[0], float):
            feature.float_list.value.extend(values)
        elif isinstance(values[0], int):
            feature.int64_list.value.extend(values)
        else:
            feature.bytes_list.value.extend(values)
    return e.SerializeToString()


ALL = example(x=[1.0, 2.0], i=[1, -2, 3], s=[b"p", b"qr"])
NONE = example()


def v2(c, serialized, names=(), sparse=(), dense=(), ragged=(), **rest):
    """sparse: (key, type); dense: (key, default, shape); ragged: (key, type, splits)."""
    keys = [np.array([f[0] for f in features], dtype=object) if features else NO_TEXT for features in (sparse, dense, ragged)]
    defaults = [f[1] for f in dense]
    c.add("ParseExampleV2", [serialized, s(*names) if names else NO_TEXT, *keys, defaults],
          {"num_sparse": len(sparse), "sparse_types": [f[1] for f in sparse], "Tdense": [tf.convert_to_tensor(d).dtype for d in defaults],
           "dense_shapes": [list(f[2]) for f in dense], "ragged_value_types": [f[1] for f in ragged],
           "ragged_split_types": [f[2] for f in ragged]}, **rest)


def examples(c):
    batch = s(ALL, NONE, example(x=[3.0, 4.5], i=[7], s=[b""]))
    x = ("x", NO_FLOAT, [2])
    v2(c, s(ALL, ALL), dense=[x, ("i", NO_INT, [3]), ("s", NO_TEXT, [2, 1])])
    v2(c, batch, dense=[("x", np.array([7, 8], np.float32), [2])], note="default")
    v2(c, batch, sparse=[("x", FLOAT), ("i", INT), ("s", TEXT), ("none", INT)])
    v2(c, batch, ragged=[("x", FLOAT, tf.int32), ("i", INT, tf.int64), ("s", TEXT, tf.int64), ("none", TEXT, tf.int32)])
    v2(c, batch, sparse=[("i", INT)], dense=[("x", np.array([7, 8], np.float32), [2])], ragged=[("s", TEXT, tf.int32)], note="mixed")
    v2(c, np.array(ALL, object), sparse=[("i", INT)], dense=[x], ragged=[("s", TEXT, tf.int64)], note="single")
    v2(c, NO_TEXT, sparse=[("i", INT)], dense=[x], ragged=[("s", TEXT, tf.int64)], note="empty")
    v2(c, s(example(x=[1.0]) + example(x=[2.0])), dense=[("x", NO_FLOAT, [1])], note="twice")
    v2(c, s(ALL, NONE), names=["n0", "n1"], dense=[x], note="missing",
       error="Name: n1, Feature: x (data type: float) is required but could not be found.")
    v2(c, s(NONE), dense=[x], note="missing", error="Name: <unknown>, Feature: x (data type: float) is required")
    v2(c, s(example(x=None)), dense=[x], note="missing", error="Feature: x (data type: float) is required")
    v2(c, s(example(x=[])), dense=[x], note="few",
       error="Key: x, Index: 0.  Number of float values != expected.  Values size: 0 but output shape: [2]")
    v2(c, s(ALL, ALL), dense=[("x", NO_FLOAT, [3])], note="few", error="Values size: 2 but output shape: [3]")
    v2(c, s(ALL), dense=[("i", NO_FLOAT, [3])], note="type",
       error="Key: i, Index: 0.  Data types don't match. Data type: int64 but expected type: float")
    v2(c, s(ALL), sparse=[("x", INT)], note="type", error="Data types don't match. Expected type: int64, Actual type: float")
    v2(c, s(ALL), ragged=[("s", INT, tf.int32)], note="type", error="Data types don't match. Expected type: int64, Actual type: string")
    v2(c, np.array(ALL, object), dense=[("x", NO_FLOAT, [3])], note="single_few", error="Key: x.  Can't parse serialized Example")
    v2(c, np.array(NONE, object), dense=[x], note="single_missing", error="Feature: x (data type: float) is required but could not be found.")
    v2(c, s(b"\x0a\x05ab"), dense=[x], note="damaged", error="Could not parse example input, value: '")
    v2(c, s(ALL), dense=[("x", np.array([1, 2, 3], np.float32), [2])], note="bad_default",
       error="def_value[0].shape() == [3] is not compatible with dense_shapes_[0] == [2]")
    v2(c, s(ALL), names=["a", "b"], dense=[x], note="names", error="Expected names have the same shape as serialized")
    v2(c, s(ALL).reshape(1, 1), dense=[x], note="matrix", error="")
    c.add("ParseExample", [batch, NO_TEXT, [s("i")[0:1].reshape([])], [s("x").reshape([])], [np.array([7, 8], np.float32)]],
          {"Nsparse": 1, "Ndense": 1, "sparse_types": [INT], "Tdense": [FLOAT], "dense_shapes": [[2]]})
    c.add("ParseSingleExample", [np.array(ALL, object), [NO_FLOAT]],
          {"num_sparse": 1, "sparse_keys": ["i"], "dense_keys": ["x"], "sparse_types": [INT], "Tdense": [FLOAT], "dense_shapes": [[2]]})


def raw_values(c):
    data = s(bytes(range(16)), bytes(range(16, 32)))
    for dtype in (tf.float32, tf.float64, tf.float16, tf.bfloat16, tf.int8, tf.int16, tf.int32, tf.int64, tf.uint8, tf.uint16):
        for little in (True, False):
            c.add("DecodeRaw", [data], {"out_type": dtype, "little_endian": little})
            c.add("DecodePaddedRaw", [s(b"abc", bytes(range(20))), np.int32(16)], {"out_type": dtype, "little_endian": little})
    c.add("DecodeRaw", [s(b"\0\1\1")], {"out_type": tf.bool})
    c.add("DecodeRaw", [NO_TEXT], {"out_type": tf.int32}, note="empty")
    c.add("DecodeRaw", [s(b"")], {"out_type": tf.int32}, note="empty")
    c.add("DecodeRaw", [s(b"ab", b"abc")], {"out_type": tf.uint8}, note="bad", error="requires input strings to all be the same size")
    c.add("DecodeRaw", [s(b"abc")], {"out_type": tf.int32}, note="bad", error="that is not a multiple of 4")
    c.add("DecodePaddedRaw", [s(b"abc"), np.int32(0)], {"out_type": tf.int32}, note="bad", error="greater than zero")
    c.add("DecodePaddedRaw", [s(b"abc"), np.int32(5)], {"out_type": tf.int32}, note="bad", error="multiple of")
    text = b"some words, " * 20
    c.add("DecodeCompressed", [s(zlib.compress(text), zlib.compress(b""))], {"compression_type": "ZLIB"})
    c.add("DecodeCompressed", [s(gzip.compress(text, mtime=0))], {"compression_type": "GZIP"})
    c.add("DecodeCompressed", [s(text)], {"compression_type": ""})
    for value in (floats(2, 3), ints(4, dtype=np.int64), s("a", "bc"), np.array(True), floats(2, dtype=np.float64)):
        c.add("ParseTensor", [np.array(raw.SerializeTensor(tensor=value).numpy(), object)], {"out_type": tf.convert_to_tensor(value).dtype})
        if value.dtype != object:
            c.add("SerializeTensor", [value])
    c.add("ParseTensor", [np.array(raw.SerializeTensor(tensor=floats(2)).numpy(), object)], {"out_type": tf.int32}, note="bad",
          error="Type mismatch between parsed tensor")
    c.add("ParseTensor", [np.array(b"\xff\xff", object)], {"out_type": tf.int32}, note="damaged", error="Could not parse")


def lines(c):
    defaults = [np.array([9], np.int32), np.array([1.5], np.float32), np.array(["none"], object)]
    types = {"OUT_TYPE": [tf.int32, tf.float32, tf.string]}
    for records in (s("1,2.5,abc", ",,", ' 4 ,5e2,"a,b"', '1,2,"say ""x"""', "1,2,"), s("7,8,9").reshape(1, 1), NO_TEXT):
        c.add("DecodeCSV", [records, defaults], types)
    c.add("DecodeCSV", [s('1;2;"a;b"'), defaults], {**types, "field_delim": ";"}, note="delimiter")
    c.add("DecodeCSV", [s('1,2,"a'), defaults], {**types, "use_quote_delim": False}, note="no_quotes")
    c.add("DecodeCSV", [s("NA,2,NA"), defaults], {**types, "na_value": "NA"}, note="na")
    c.add("DecodeCSV", [s("x,1,y,2.5,text,z"), defaults], {**types, "select_cols": [1, 3, 4]}, note="columns")
    c.add("DecodeCSV", [s("5,1.25"), [NO_INT, np.zeros([0], np.float64)]], {"OUT_TYPE": [tf.int64, tf.float64]}, note="required")
    for bad, text in {"1,2": "Expect 3 fields but have 2 in record 0", "1,2,3,4": "Expect 3 fields but have 4 in record 0",
                      "a,2,3": "Field 0 in record 0 is not a valid int32: a", "1,b,3": "Field 1 in record 0 is not a valid float: b",
                      '1,2,a"b': "Unquoted fields cannot have quotes/CRLFs inside", '1,2,"a': "Quoted field has to end with quote",
                      '1,2,"a"b"': "Quote inside a string has to be escaped by another quote", "": "Expect 3 fields but have 0"}.items():
        c.add("DecodeCSV", [s(bad), defaults], types, note="bad", error=text)
    c.add("DecodeCSV", [s(",1"), [NO_INT, NO_INT]], {"OUT_TYPE": [tf.int64, tf.int64]}, note="missing",
          error="Field 0 is required but missing in record 0")
    c.add("DecodeJSONExample", [s('{"features": {"feature": {"i": {"int64List": {"value": [1, "-2"]}}}}}',
                                  '{"features": {"feature": {"x": {"float_list": {"value": [1.5, "NaN", 2]}}}}}',
                                  '{"features": {"feature": {"s": {"bytesList": {"value": ["YWI=", ""]}}}}}', "{}")])
    c.add("DecodeJSONExample", [s("{")], note="bad", error="Error while parsing JSON")


@family
def parsing(c):
    for part in (examples, raw_values, lines):
        part(c)
