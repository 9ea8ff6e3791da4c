# SPDX-License-Identifier: Apache-2.0
from op_cases.framework import *


@family
def strings(c):
    c.add("StringJoin", [[np.array("a"), np.array("b"), np.array("c")]], {"separator": "/"})
    c.add("StringJoin", [[np.array(["a", "b"]), np.array("x")]], note="scalar")
    c.add("StringJoin", [[np.array(["a", "b"]), np.array(["x"])]], note="bad", error="Input shapes do not match")
    c.add("Add", [np.array(["a", "b"]), np.array("x")], note="strings")
    c.add("Add", [np.array([["a"], [""]]), np.array(["x", "", "z"])], note="strings_grid")
    c.add("Add", [np.array(["a", "b"]), np.array(["x", "y", "z"])], note="strings_bad", error="Incompatible shapes")
    c.add("StaticRegexFullMatch", [np.array(["s3://x", "gs://y", "s3:/"])], {"pattern": "^s3://.*"})
    c.add("StaticRegexFullMatch", [np.array("a")], {"pattern": "("}, note="bad", error="")
    c.add("RegexFullMatch", [np.array(["abc", "abd"]), np.array("ab[c]")])
    c.add("StaticRegexReplace", [np.array(["aabb", "xay"])], {"pattern": "a", "rewrite": "<\\0>"})
    c.add("StaticRegexReplace", [np.array(["aabb"])],
          {"pattern": "(a)(b)", "rewrite": "\\2\\1", "replace_global": False}, note="once")
    for x in [ints(4), ints(3, dtype=np.int64), np.array([1.5, -2, 1e20, NAN, INF, 0.1], np.float32),
              np.array([1.5, 1e20], np.float64), np.array([True, False]), ints(3, dtype=np.uint8),
              np.array([1.5], np.float16), np.array([2**64 - 1], np.uint64)]:
        c.add("AsString", [x])
    c.add("AsString", [np.array([1.23456789, 12], np.float32)], {"precision": 2}, note="precision")
    c.add("AsString", [np.array([1.23456789, 1e10], np.float32)], {"scientific": True}, note="scientific")
    c.add("AsString", [np.array([1.23456789, 1e10], np.float32)], {"shortest": True}, note="shortest")
    c.add("AsString", [ints(3)], {"width": 6, "fill": "0"}, note="fill")
    c.add("AsString", [ints(3)], {"width": 6}, note="width")
    c.add("AsString", [ints(3)], {"precision": 2}, note="bad", error="")
    c.add("StringLength", [np.array(["", "abc", "h\u00e9"])])
    c.add("StringLength", [np.array(["", "abc", "h\u00e9"])], {"unit": "UTF8_CHAR"}, note="utf8")
    c.add("StringLower", [np.array(["AbC", "x1Y"])])
    c.add("StringUpper", [np.array(["AbC", "x1Y"])])
    c.add("StringStrip", [np.array(["  a b ", "\tc\n", ""])])
    for x in [floats(3), ints(7), ints(5, 2), np.array(["a", "b"]), np.int32(4), np.array([True, False]),
              floats(2, 2, 2)]:
        c.add("StringFormat", [[x]], {"template": "x = %s.", "placeholder": "%s", "summarize": 2})
    c.add("StringFormat", [[ints(9)]], {"template": "%s", "placeholder": "%s", "summarize": -1}, note="all")
    c.add("ShardedFilename", [np.array("dir/part"), np.int32(3), np.int32(12)])
