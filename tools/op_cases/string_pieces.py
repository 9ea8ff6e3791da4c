# SPDX-License-Identifier: Apache-2.0
from op_cases.framework import *


def s(*values):
    return np.array(values, dtype=object)


EMPTY = tf.zeros([0], tf.string)
ODD = s(b"a\xc3\xa9z", b"", b"a\xff\xfez\xe2\x82", b"\xed\xa0\x80", b"\xf0\x9f\x98", b"\xc0\x80", b"\xe2\x28\xa1",
        b"\xf0\x9f\x98\x80", b"\xef\xbb\xbfa", b"a\x00\x1f\x7f\xc2\x85z")


def splitting(c):
    for skip in (True, False):
        for delimiter in (",", ",;", ""):
            c.add("StringSplit", [s("", "a,,b;", ",x", "plain"), np.array(delimiter)], {"skip_empty": skip})
    c.add("StringSplit", [np.array("a"), np.array(",")], note="bad", error="input must be a vector")
    c.add("StringSplit", [s("a"), s(",")], note="bad_delimiter", error="delimiter must be a scalar")
    for sep in ("", ",", ", "):
        for most in (-1, 0, 1, 2):
            c.add("StringSplitV2", [s("", "a  b ", " x y\tz ", "a,,b,", ", a, b", "one"), np.array(sep)],
                  {"maxsplit": most})
    c.add("StringSplitV2", [EMPTY, np.array("")], note="empty")
    c.add("StringSplitV2", [np.array("a"), np.array("")], note="bad", error="input must be a vector")
    c.add("StringSplitV2", [s("a"), s("")], note="bad_sep", error="sep must be a scalar")


def pieces(c):
    for unit in ("BYTE", "UTF8_CHAR"):
        for pos, length in [(0, 2), (3, 1), (-2, 5), (-3, 2), (1, -1), (1, 0), (0, 100)]:
            for dtype in (np.int32, np.int64):
                c.add("Substr", [s(b"abc", "a\u00e9z"), np.array(pos, dtype), np.array(length, dtype)], {"unit": unit})
        for pos in (4, -4):
            c.add("Substr", [s("abc"), np.int32(pos), np.int32(1)], {"unit": unit}, note="bad",
                  error=f"pos {pos} out of range for string")
    c.add("Substr", [s(b"a\xff\xfez\x80"), np.int32(1), np.int32(2)], {"unit": "UTF8_CHAR"}, note="malformed")
    c.add("Substr", [s("abc", "def"), i32(0, 1), i32(1, 2)], note="vector")
    c.add("Substr", [s(["abc", "def"]).reshape(1, 2), np.array([[0], [1]], np.int32), np.array([[1], [2]], np.int32)],
          note="broadcast")
    c.add("Substr", [np.array("abc"), i32(0, 1), i32(1, 2)], note="scalar_text")
    c.add("Substr", [np.array([["abc", "def"], ["ghi", "jkl"]]), i32(0, 1), i32(1, 2)], note="rows")
    c.add("Substr", [EMPTY, np.int32(0), np.int32(1)], note="empty")
    c.add("Substr", [s("abc", "def"), i32(0, 1), np.int32(1)], note="bad_length", error="should have the same shape")
    c.add("Substr", [s("abc", "def"), i32(0, 1, 2), i32(0, 1, 2)], note="bad_shapes", error="Incompatible shapes")
    c.add("Substr", [np.full([2, 1, 2], "abc"), np.zeros([1, 2, 2], I32), np.ones([1, 2, 2], I32)], note="bad_rank",
          error="Substr broadcast not implemented for 3 dimensions", code="UNIMPLEMENTED")


def numbers(c):
    reals = s("  1 ", "1.5", "0x10", "0x1p3", "inf", "-INF", "infinity", "nan", "-nan", "1e400", "1e-400", "+3", ".5", "5.",
              "\t2\n", "3e38", "4e38", "16777217", "0.1", "1e-45", "4.9e-324", "3.4028235677973366e38", "nan(1)")
    for dtype in (tf.float32, tf.float64):
        c.add("StringToNumber", [reals], {"out_type": dtype})
        for bad in ("", "1_0", "1.5f", "1 2", "- 1", "1d5", "1e", "0x", "--1", "infx"):
            c.add("StringToNumber", [s(bad)], {"out_type": dtype}, note="bad", error="could not correctly convert string: " + bad)
    limits = {tf.int32: ("2147483647", "-2147483648", "2147483648"), tf.uint32: ("4294967295", "0", "4294967296"),
              tf.int64: ("9223372036854775807", "-9223372036854775808", "-9223372036854775809"),
              tf.uint64: ("18446744073709551615", "0", "18446744073709551616")}
    for dtype, (most, least, over) in limits.items():
        c.add("StringToNumber", [s(most, least, " 1 ", "+5", "\n7", "00012", "\v3\f")], {"out_type": dtype})
        for bad in (over, "", "1.5", "0x10", "1 2", "- 1", "+-1"):
            c.add("StringToNumber", [s(bad)], {"out_type": dtype}, note="bad", error="could not correctly convert string: " + bad)
    c.add("StringToNumber", [s("-0")], {"out_type": tf.uint32}, note="minus_zero", error="could not correctly")


def base_64(c):
    raw_bytes = s(b"", b"a", b"ab", b"abc", b"\xff\xfe\xfd\xfc")
    for pad in (False, True):
        c.add("EncodeBase64", [raw_bytes], {"pad": pad})
    c.add("DecodeBase64", [s("", "YQ==", "YQ", "YWJj", "__79", "YR==", "YWI=", "YWI", "YW==", "-_8")])
    for bad, text in {"YQ=": "Invalid character found in base64", "//79": "Invalid character", "Y Q": "Invalid character",
                      "YQ==YQ==": "Invalid character", "Y": "Base64 string length cannot be 1 modulo 4",
                      "YWJjZ": "Base64 string length cannot be 1 modulo 4"}.items():
        c.add("DecodeBase64", [s(bad)], note="bad", error=text)


def regex(c):
    for every in (True, False):
        for pattern, rewrite in [("a", "<\\0>"), ("(a)(b)", "\\2\\1"), ("x*", "-"), (".", "-"), ("a", "\\2"), ("^", ">")]:
            c.add("RegexReplace", [s("aabb", "xay", "\u00e9", ""), np.array(pattern), np.array(rewrite)], {"replace_global": every})
    c.add("StaticRegexReplace", [s("aab")], {"pattern": "a", "rewrite": "\\2"}, note="rewrite")
    c.add("StaticRegexReplace", [s(b"a\xff\xfeb")], {"pattern": ".", "rewrite": "-"}, note="malformed")
    c.add("RegexReplace", [s("aab"), np.array("("), np.array("x")], note="bad", error="Invalid pattern: (, error: missing )")
    c.add("RegexReplace", [s("aab"), s("a"), np.array("x")], note="bad_pattern", error="Pattern must be scalar")
    c.add("RegexReplace", [s("aab"), np.array("a"), s("x")], note="bad_rewrite", error="Rewrite must be scalar")


def joins(c):
    x = np.array([["a", "b"], ["c", "d"], ["e", "f"]])
    cube = np.array([["a", "b", "c"], ["d", "e", "f"]]).reshape(1, 2, 3).repeat(2, 0)
    for dims in ([0], [1], [0, 1], [1, 0], [-1], []):
        for keep in (False, True):
            c.add("ReduceJoin", [x, np.array(dims, I32)], {"keep_dims": keep, "separator": ","})
    for dims in ([0], [2, 0], [1, 2], [2, 1, 0]):
        c.add("ReduceJoin", [cube, np.array(dims, I32)], {"separator": "-"}, note="cube")
    c.add("ReduceJoin", [np.array("a"), np.array([], I32)], note="scalar")
    c.add("ReduceJoin", [tf.zeros([0, 2], tf.string), i32(0)], note="empty")
    c.add("ReduceJoin", [tf.zeros([0, 2], tf.string), i32(1)], note="empty")
    c.add("ReduceJoin", [x, i32(2)], note="bad", error="Invalid reduction dimension 2 for input with 2 dimension(s)",
          code="OUT_OF_RANGE")
    c.add("ReduceJoin", [x, i32(0, -2)], note="twice", error="Duplicate reduction dimension -2")
    for ids in (np.int32, np.int64):
        c.add("UnsortedSegmentJoin", [s("a", "b", "c"), np.array([1, 0, 1], ids), np.int32(3)], {"separator": "-"})
    c.add("UnsortedSegmentJoin", [x, np.array([[1, 0], [1, 0], [0, 0]], I32), np.int32(2)], {"separator": "-"}, note="matrix")
    c.add("UnsortedSegmentJoin", [x, i32(1, 1, 0), np.int32(3)], {"separator": "-"}, note="rows")
    for bad in (-1, 3):
        c.add("UnsortedSegmentJoin", [s("a", "b", "c"), i32(1, bad, 1), np.int32(3)], note="bad",
              error="segment_ids are not allowed to exceed num_segments or to have negative values")
    c.add("UnsortedSegmentJoin", [s("a", "b"), i32(0, 0), np.int32(-3)], note="bad_count",
          error="Number of segments must be non-negative but got -3")
    c.add("UnsortedSegmentJoin", [s("a", "b", "c"), i32(0, 0), np.int32(3)], note="bad_shape",
          error="Segment dimension is 2 while input dimension is")


def n_grams(c):
    def add(data, splits, widths, pad=-1, short=False, dtype=np.int64, **more):
        c.add("StringNGrams", [np.array(data, dtype=object) if data else EMPTY, np.array(splits, dtype)],
              {"separator": " ", "ngram_widths": widths, "left_pad": "<", "right_pad": ">", "pad_width": pad,
               "preserve_short_sequences": short}, **more)
    abcd = ["a", "b", "c", "d"]
    for pad in (-1, 0, 1, 100):
        for short in (False, True):
            add(abcd, [0, 0, 1, 4], [3, 2], pad, short)
            add(["a"], [0, 1, 1], [5], pad, short)
    add(abcd, [0, 4], [1], 0, dtype=np.int32)
    add(abcd, [], [2])
    add([], [0], [2])
    add([], [0, 0], [2], note="empty")
    for splits, text in [([1, 4], "First split value must be 0, got 1"), ([0, 4, 1], "Invalid split value 1, must be in [4, 4]"),
                         ([0, 1], "Last split value must be data size. Expected 4, got 1"),
                         ([0, 5], "Invalid split value 5, must be in [0, 4]")]:
        add(abcd, splits, [2], note="bad", error=text)
    add(abcd, [0, 4], [0], note="bad_width", error="ngram_widths must contain positive values")


def decoding(c):
    base = {"input_encoding": "UTF-8"}
    for op in ("UnicodeDecode", "UnicodeDecodeWithOffsets"):
        for more in ({}, {"errors": "ignore"}, {"replacement_char": 65}, {"replace_control_characters": True},
                     {"errors": "ignore", "replace_control_characters": True}):
            c.add(op, [ODD], {**base, **more, "Tsplits": tf.int64})
        c.add(op, [np.array([["a", "bc"], ["", "d"]])], {**base, "Tsplits": tf.int32 if op == "UnicodeDecode" else tf.int64}, note="matrix")
        c.add(op, [s(b"a\xff")], {**base, "errors": "strict"}, note="strict", error="Invalid formatting on input string")
        for encoding, data in [("UTF-16-BE", [b"\x00a\xd8\x3d\xde\x00", b"\x00"]), ("UTF-16", [b"\xff\xfea\x00", b"\xff\xfe"]),
                               ("UTF-32-BE", [b"\x00\x00\x00a\x00\x11\x00\x00"]), ("ISO-8859-1", [b"a\xe9\x80"]),
                               ("windows-1252", [b"a\xe9\x80\x81"]), ("Shift_JIS", [b"\x83\x65\x83"]), ("US-ASCII", [b"a\xe9"])]:
            c.add(op, [s(*data)], {"input_encoding": encoding}, note=encoding.replace("-", "_"))
    c.add("UnicodeDecode", [s("a")], {"input_encoding": "NOPE"}, note="bad",
          error="Could not create converter for input encoding: NOPE")
    c.add("UnicodeDecode", [s("a")], {**base, "replacement_char": 0x110000}, note="bad_replacement",
          error="replacement_char out of unicode codepoint range")


def encoding(c):
    values = i32(97, 233, 0x1F600, 0xd800, -1, 0x110000, 0xffff)
    for form in ("UTF-8", "UTF-16-BE", "UTF-32-BE"):
        for errors in ("replace", "ignore"):
            for dtype in (np.int32, np.int64):
                c.add("UnicodeEncode", [values, np.array([0, 1, 1, 3, 7], dtype)], {"output_encoding": form, "errors": errors})
            c.add("UnicodeTranscode", [ODD], {"input_encoding": "UTF-8", "output_encoding": form, "errors": errors})
            c.add("UnicodeTranscode", [ODD], {"input_encoding": "UTF-8", "output_encoding": form, "errors": errors,
                                              "replace_control_characters": True, "replacement_char": 63}, note="controls")
    u8 = {"output_encoding": "UTF-8"}
    c.add("UnicodeEncode", [values, i32(0, 7)], {**u8, "errors": "strict"}, note="strict",
          error="Code point is out of range for Unicode, or is a surrogate.")
    c.add("UnicodeEncode", [i32(97, 0xd800), i32(0, 2)], {**u8, "replacement_char": 63}, note="replacement")
    c.add("UnicodeEncode", [np.array([], I32), i32(0)], u8, note="empty")
    for splits, text in [([1, 7], "First value in input_splits must be zero"),
                         ([0, 1], "Last value in input_splits must be equal to length of input_tensor"),
                         ([], "Input_splits should contain elements"), ([[0, 7]], "should be of rank 1")]:
        c.add("UnicodeEncode", [values, np.array(splits, I32)], u8, note="bad", error=text)
    c.add("UnicodeTranscode", [s(b"a\xff")], {**u8, "input_encoding": "UTF-8", "errors": "strict"}, note="strict",
          error="Invalid formatting on input string")
    c.add("UnicodeTranscode", [s(b"a\xff")], {**u8, "input_encoding": "NOPE"}, note="bad",
          error="Could not create converter for input encoding: NOPE")
    c.add("UnicodeTranscode", [s(b"\xd8\x3d", b"\x00a")], {**u8, "input_encoding": "UTF-16-BE"}, note="utf16")
    c.add("UnicodeScript", [i32(65, 1041, 0x3042, -1, 0x110000, 0xd800, 32, 0x1F600)])
    words = s("\u00c0\u00c9\u0130\u00df", "\u0391\u03a3", b"A\xffB", "", "\ufb01", "abc")
    for op in ("StringLower", "StringUpper"):
        for name in ("", "utf-8"):
            c.add(op, [words], {"encoding": name}, note="words")
        c.add(op, [words], {"encoding": "latin"}, note="bad", error="only utf-8 or '' (no encoding) is supported, received latin")
    c.add("StringLength", [s(b"a\xff\xfe\x80", b"\xe2\x82")], {"unit": "UTF8_CHAR"}, note="malformed")


def hashes(c):
    texts = s("", "a", "abcdefg", "abcdefgh", "hello world", "x" * 17, "y" * 33, "z" * 70, b"\xff\x00\x01", "q" * 200)
    for buckets in (1, 10, 1000003, 2**62):
        c.add("StringToHashBucketFast", [texts], {"num_buckets": buckets})
        c.add("StringToHashBucket", [texts], {"num_buckets": buckets})
        c.add("StringToHashBucketStrong", [texts], {"num_buckets": buckets, "key": [1, -2]})
    c.add("StringToHashBucketStrong", [texts], {"num_buckets": 3, "key": [1]}, note="bad", error="Key must have 2 elements")
    method = np.array("farmhash64")
    for data in (texts, texts.reshape(5, 2), texts.reshape(5, 2, 1), ints(3, 4), floats(2, 3, dtype=np.float64),
                 np.array([True, False]), ints(3, 5, dtype=np.uint8), EMPTY):
        c.add("Fingerprint", [data, method])
    c.add("Fingerprint", [np.float32(1), method], note="scalar", error="should have at least one dimension")
    c.add("Fingerprint", [ints(3), np.array("md5")], note="method", error="Unsupported fingerprint method")


def distances(c):
    def sparse(indices, values, shape):
        return [np.array(indices, np.int64).reshape(-1, len(shape)), values, np.array(shape, np.int64)]
    first = sparse([[0, 0], [0, 1], [2, 0]], i32(1, 2, 3), [3, 2])
    second = sparse([[0, 0], [1, 0], [1, 1]], i32(1, 3, 4), [3, 2])
    for normalize in (True, False):
        c.add("EditDistance", first + second, {"normalize": normalize})
        words = sparse([[0, 0, 0], [0, 0, 1], [0, 0, 2], [1, 1, 0]], s("a", "b", "c", "d"), [2, 2, 3])
        others = sparse([[0, 0, 0], [0, 0, 1], [1, 0, 0], [1, 1, 0]], s("b", "c", "x", "d"), [2, 3, 3])
        c.add("EditDistance", words + others, {"normalize": normalize}, note="words")
    for dtype in (np.float32, np.float64, np.int8, np.int16, np.int64, np.uint8, np.uint16, np.bool_):
        c.add("EditDistance", [first[0], np.array([1, 0, 3], dtype), first[2], second[0], np.array([1, 1, 0], dtype), second[2]])
    c.add("EditDistance", first + sparse([[0, 0, 0]], i32(1), [3, 2, 2]), note="bad_rank",
          error="Expected truth and hypothesis to have matching ranks")
    c.add("EditDistance", sparse([[0]], i32(1), [3]) * 2, note="bad_vector", error="must have rank at least 2")
    c.add("EditDistance", sparse([[5, 0]], i32(1), [3, 1]) + sparse([[0, 0]], i32(1), [3, 1]), note="bad_index",
          error="would require writing to outside of the buffer", code="INTERNAL")


def crosses(c):
    def sparse(rows, dtype):
        cells = [(r, k, v) for r, row in enumerate(rows) for k, v in enumerate(row)]
        width = max([len(row) for row in rows] + [0])
        return (np.array([[r, k] for r, k, _ in cells], np.int64).reshape(-1, 2),
                np.array([v for _, _, v in cells], dtype), np.array([len(rows), width], np.int64))

    def add(op, columns, dense, attrs, more=(), **rest):
        parts = [[column[i] for column in columns] for i in range(3)]
        def types_of(arrays):
            return [tf.string if a.dtype == object else tf.int64 for a in arrays]
        types = {"N": len(columns), "sparse_types": types_of(parts[1]), "dense_types": types_of(dense)}
        c.add(op, parts + [list(dense)] + list(more), {**attrs, **types}, **rest)
    words, others = sparse([["a", "b"], ["c"]], object), sparse([["x"], ["y", "z"]], object)
    numbers_, none = sparse([[1, -2], [2**40 + 3]], np.int64), sparse([[], []], np.int64)
    dense_words, dense_numbers = np.array([["p"], ["q"]], object), np.array([[7, 8], [9, -1]], np.int64)
    for hashed in (False, True):
        kind = tf.int64 if hashed else tf.string
        base = {"hashed_output": hashed, "num_buckets": 0, "hash_key": 0xDECAFCAFFE, "out_type": kind, "internal_type": kind}
        add("SparseCross", [words, others], [], base)
        add("SparseCross", [words], [dense_words], base)
        if hashed:
            add("SparseCross", [words, numbers_], [dense_numbers], {**base, "num_buckets": 100})
            add("SparseCross", [numbers_, none], [], base)
    base = {**base, "hashed_output": False, "out_type": tf.string, "internal_type": tf.string}
    add("SparseCross", [words], [np.array([["p"]], object)], base, note="bad_batch", error="Expected batch size 2 got 1 at dense tensor 0")
    add("SparseCross", [words], [np.array(["p", "q"], object)], base, note="bad_dense", error="Dense inputs should be a matrix")
    add("SparseCrossV2", [words, numbers_], [dense_numbers, dense_words], {}, [np.array("_X_")])
    for strong in (False, True):
        for buckets in (0, 10):
            add("SparseCrossHashed", [words, numbers_], [], {},
                [np.int64(buckets), np.array(strong), np.array([1, -2], np.int64)])
            add("SparseCrossHashed", [numbers_], [], {}, [np.int64(buckets), np.array(strong), np.array([3, 4], np.int64)])


@family
def string_pieces(c):
    for part in (splitting, pieces, numbers, base_64, regex, joins, n_grams, decoding, encoding, hashes, crosses, distances):
        part(c)
