#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Asks TensorFlow for the output shapes of the nodes below and prints the cases that
src/ir/ops/shapes_test.cc runs: tests/golden/ir/shape_cases.txt (needs Python with TensorFlow).

A line: op | inputs | attributes | output shapes, or "error: " and TensorFlow's message.
"float32[?,3]" is an input of which the shape is known, "int32[2]={1,2}" a constant.
"""
import re

import numpy as np
import tensorflow as tf
from tensorflow.python.framework import op_def_library, op_def_registry

F = "float32"


def f(dims):
    return f"float32[{dims}]" if dims is not None else "float32<unknown>"


def i(*values):
    return f"int32[{len(values)}]={{{','.join(map(str, values))}}}"


def s(value):
    return f"int32[]={{{value}}}"


def cases():
    binary = [("2,3", "2,3"), ("2,3", "3"), ("2,3", ""), ("?,3", "2,1"), ("?,3", "?,3"), ("2,1,4", "3,1"),
              ("2,3", "4"), ("?", "1"), ("?", "5"), (None, "2"), ("0,3", "1,3")]
    for op in ("AddV2", "Mul", "Maximum", "SquaredDifference", "Less"):
        for a, b in binary if op == "AddV2" else binary[:5]:
            yield op, [f(a), f(b)], {}
    for flag in (True, False):
        yield "Equal", [f("2,3"), f("4")], {"incompatible_shape_error": flag}
        yield "NotEqual", [f("2,3"), f("3")], {"incompatible_shape_error": flag}
    for op in ("Relu", "Exp", "Sigmoid", "Neg", "Erf", "Softplus", "ZerosLike", "Identity", "L2Loss", "Rank", "Size"):
        yield op, [f("?,3")], {}
        yield op, [f(None)], {}
    for op in ("ReluGrad", "SigmoidGrad", "TanhGrad", "SoftplusGrad", "EluGrad"):
        yield op, [f("2,3"), f("2,3")], {}
    yield "ReluGrad", [f("?,3"), f("2,?")], {}
    yield "ReluGrad", [f("2,3"), f("2,4")], {}
    yield "AddN", [f("2,?"), f("?,3"), f(None)], {}
    yield "AddN", [f("2,3"), f("2,4")], {}
    yield "Cast", [f("?,3")], {"DstT": tf.int32}
    yield "Select", ["bool[2]", f("2,3"), f("2,3")], {}
    yield "Select", ["bool[]", f("2,3"), f("?,3")], {}
    yield "Select", ["bool[3]", f("2,3"), f("2,3")], {}
    yield "Select", ["bool[2,3]", f("2,?"), f("?,3")], {}
    yield "SelectV2", ["bool[2,1]", f("3"), f("")], {}
    yield "SelectV2", ["bool[?,1]", f("4,3"), f("3")], {}
    yield "SelectV2", ["bool[2]", f("4,3"), f("3")], {}
    yield "ClipByValue", [f("2,3"), f(""), f("")], {}
    for a, b, ta, tb in (("?,784", "784,10", False, False), ("784,?", "784,10", True, False),
                         ("32,784", "10,784", False, True), ("784,32", "10,784", True, True), (None, "784,10", False, False),
                         ("?,784", "10,300", False, False), ("784", "784,10", False, False), ("2,3,4", "4,5", False, False)):
        yield "MatMul", [f(a), f(b)], {"transpose_a": ta, "transpose_b": tb}
    for a, b in (("5,2,3", "5,3,4"), ("2,3", "5,3,4"), ("?,2,3", "7,3,?"), ("5,2,3", "4,3,4"), ("5,2,3", "5,4,4"), (None, "5,3,4"), ("3", "5,3,4")):
        yield "BatchMatMulV2", [f(a), f(b)], {}
    yield "BatchMatMulV2", [f("5,3,2"), f("5,4,3")], {"adj_x": True, "adj_y": True}
    yield "BatchMatMul", [f("5,2,3"), f("5,3,4")], {}
    yield "BatchMatMul", [f("1,2,3"), f("5,3,4")], {}
    yield "BiasAdd", [f("?,10"), f("10")], {}
    yield "BiasAdd", [f("?,?"), f("10")], {}
    yield "BiasAdd", [f("2,5,6,3"), f("5")], {"data_format": "NCHW"}
    yield "BiasAdd", [f("?,10"), f("9")], {}
    yield "BiasAdd", [f("10"), f("10")], {}
    yield "BiasAddGrad", [f("?,10")], {}
    yield "BiasAddGrad", [f("2,5,6,3")], {"data_format": "NCHW"}
    yield "Softmax", [f("2,3")], {}
    yield "Softmax", [f("")], {}
    yield "LogSoftmax", [f("?,3")], {}
    yield "SoftmaxCrossEntropyWithLogits", [f("?,10"), f("32,10")], {}
    yield "SoftmaxCrossEntropyWithLogits", [f("32,10"), f("32,9")], {}
    yield "SoftmaxCrossEntropyWithLogits", [f("32"), f("32")], {}
    yield "SparseSoftmaxCrossEntropyWithLogits", [f("?,10"), "int32[32]"], {}
    yield "SparseSoftmaxCrossEntropyWithLogits", [f("16,10"), "int32[32]"], {}
    yield "SparseSoftmaxCrossEntropyWithLogits", [f("16,10"), "int32[16,1]"], {}
    yield "InTopKV2", [f("?,10"), "int32[4]", s(3)], {}
    yield "TopKV2", [f("?,10"), s(3)], {}
    yield "TopKV2", [f("?,10"), "int32[]"], {}
    yield "TopKV2", [f("?,2"), s(3)], {}
    for op in ("Sum", "Mean", "Max", "Prod"):
        for keep in (False, True):
            yield op, [f("2,?,4"), i(1)], {"keep_dims": keep}
            yield op, [f("2,3,4"), i(0, -1)], {"keep_dims": keep}
    for keep in (False, True):
        yield "Sum", [f("2,3"), "int32[?]"], {"keep_dims": keep}
        yield "Sum", [f("2,3"), s(1)], {"keep_dims": keep}
        yield "Sum", [f(None), i(0)], {"keep_dims": keep}
        yield "All", ["bool[2,3]", i()], {"keep_dims": keep}
    yield "Sum", [f("2,3"), i(2)], {}
    yield "ArgMax", [f("?,10"), s(1)], {}
    yield "ArgMax", [f("?,10"), s(-2)], {"output_type": tf.int32}
    yield "ArgMax", [f("4,10"), "int32[]"], {}
    yield "ArgMax", [f("4,10"), s(2)], {}
    yield "Cumsum", [f("2,3"), s(1)], {}
    for shape in ((6,), (3, -1), (-1,), (4,), (2, -1, -1), (0, -1), (-2, 3), (-1, 4)):
        yield "Reshape", [f("2,3"), i(*shape)], {}
    yield "Reshape", [f("?,28,28"), i(-1, 784)], {}
    yield "Reshape", [f("?,3"), "int32[2]"], {}
    yield "Reshape", [f("2,3"), "int32[?]"], {}
    for axis in (0, 1, -1, -3, 3):
        yield "ExpandDims", [f("2,3"), s(axis)], {}
    yield "ExpandDims", [f(None), s(0)], {}
    yield "Squeeze", [f("1,2,1")], {}
    yield "Squeeze", [f("1,2,1")], {"squeeze_dims": [0]}
    yield "Squeeze", [f("1,2,?")], {"squeeze_dims": [-1]}
    yield "Squeeze", [f("1,2,?")], {}
    yield "Squeeze", [f("1,2,1")], {"squeeze_dims": [1]}
    yield "Squeeze", [f("1,2,1")], {"squeeze_dims": [3]}
    yield "Transpose", [f("2,?,4"), i(2, 0, 1)], {}
    yield "Transpose", [f("2,?,4"), "int32[3]"], {}
    yield "Transpose", [f("2,3"), i(0, 1, 2)], {}
    yield "Transpose", [f("2,3"), i(0, 5)], {}
    yield "Shape", [f("2,?")], {}
    yield "Shape", [f(None)], {}
    yield "ShapeN", [f("2,?"), f("3")], {}
    yield "InvertPermutation", ["int32[3]"], {}
    yield "Bitcast", [f("2,3")], {"type": tf.int8}
    yield "Bitcast", ["int8[2,4]"], {"type": tf.float32}
    yield "Bitcast", ["int8[2,3]"], {"type": tf.float32}
    yield "Bitcast", [f("2,3")], {"type": tf.int32}
    yield "Fill", [i(2, 3), f("")], {}
    yield "Fill", ["int32[2]", f("")], {}
    yield "Fill", ["int32[?]", f("")], {}
    for a, b, c in ((0, 10, 3), (10, 0, -4), (3, 3, 1), (5, 3, 1), (0, 5, 0)):
        yield "Range", [s(a), s(b), s(c)], {}
    yield "Range", [s(0), "int32[]", s(1)], {}
    yield "Range", ["float32[]={0}", "float32[]={1}", "float32[]={0.3}"], {}
    yield "LinSpace", ["float32[]={0}", "float32[]={1}", s(5)], {}
    yield "LinSpace", ["float32[]={0}", "float32[]={1}", s(0)], {}
    for axis in (-1, 0, 1, 2):
        yield "OneHot", ["int32[4,?]", s(10), f(""), f("")], {"axis": axis}
    yield "OneHot", ["int32[4]", "int32[]", f(""), f("")], {}
    yield "OneHot", ["int32[4]", s(-2), f(""), f("")], {}
    yield "BroadcastTo", [f("3"), i(2, 3)], {}
    yield "BroadcastTo", [f("2,3"), i(3)], {}
    yield "BroadcastTo", [f("4"), i(2, 3)], {}
    yield "BroadcastGradientArgs", ["int32[2]", "int32[1]"], {}
    yield "Where", ["bool[2,3]"], {}
    yield "Where", ["bool<unknown>"], {}
    yield "Pack", [f("2,3"), f("2,?")], {}
    yield "Pack", [f("2,3"), f("2,3")], {"axis": -1}
    yield "Pack", [f("2,3"), f("2,4")], {}
    yield "Pack", [f("2,3"), f("2,3")], {"axis": 3}
    yield "Unpack", [f("2,?,4")], {"num": 2, "axis": 0}
    yield "Unpack", [f("2,?,4")], {"num": 3, "axis": 1}
    yield "Unpack", [f("2,3")], {"num": 3, "axis": 0}
    yield "Unpack", [f("")], {"num": 3, "axis": 0}
    yield "ConcatV2", [f("2,3"), f("2,5"), s(1)], {}
    yield "ConcatV2", [f("2,3"), f("?,5"), s(-1)], {}
    yield "ConcatV2", [f("2,?"), f("2,5"), s(1)], {}
    yield "ConcatV2", [f("2,3"), f("2,5"), s(0)], {}
    yield "ConcatV2", [f("2,3"), f("2"), s(0)], {}
    yield "ConcatV2", [f("2,3"), f("2,5"), "int32[]"], {}
    yield "ConcatV2", [f("2,3"), f("2,5"), s(2)], {}
    yield "ConcatOffset", [s(1), i(2, 3), i(2, 5)], {}
    yield "Split", [s(1), f("2,6")], {"num_split": 3}
    yield "Split", [s(-1), f("2,?")], {"num_split": 3}
    yield "Split", [s(1), f("2,7")], {"num_split": 3}
    yield "Split", ["int32[]", f("2,6")], {"num_split": 3}
    yield "SplitV", [f("2,6"), i(1, 5), s(1)], {"num_split": 2}
    yield "SplitV", [f("2,6"), i(1, -1), s(1)], {"num_split": 2}
    yield "SplitV", [f("2,6"), i(1, 6), s(1)], {"num_split": 2}
    yield "Slice", [f("4,5"), i(1, 0), i(2, -1)], {}
    yield "Slice", [f("4,?"), i(1, 2), i(-1, 3)], {}
    yield "Slice", [f("4,5"), "int32[2]", i(2, 3)], {}
    yield "Slice", [f("4,5"), "int32[2]", "int32[2]"], {}
    yield "Slice", [f("4,5"), i(5, 0), i(1, 1)], {}
    yield "Slice", [f("4,5"), i(1, 0), i(4, 1)], {}
    yield "Slice", [f("4,5"), i(1), i(1)], {}
    def strided(begin, end, stride, shape="4,5,6", **masks):
        return "StridedSlice", [f(shape), begin, end, stride], masks
    yield strided(i(1), i(3), i(1))
    yield strided(i(-3), i(-1), i(1))
    yield strided(i(3, 0), i(0, 100), i(-1, 2))
    yield strided(i(0, 1), i(0, 2), i(1, 1), begin_mask=1, end_mask=1, shrink_axis_mask=2)
    yield strided(i(0, 0), i(0, 1), i(1, 1), ellipsis_mask=1, shrink_axis_mask=2)
    yield strided(i(0, 0, 2), i(0, 0, 4), i(1, 1, 1), new_axis_mask=1, begin_mask=2, end_mask=2)
    yield strided(i(0), i(0), i(-1), begin_mask=1, end_mask=1)
    yield strided("int32[1]", "int32[1]", i(1))
    yield strided("int32[1]", i(2), i(1), shrink_axis_mask=1)
    yield strided(i(1), i(3), i(1), shape="?,5")
    yield strided(i(0), i(0), i(1), shape="?,5", begin_mask=1, end_mask=1)
    yield strided(i(2), i(2), i(1))
    yield strided(i(1), i(3), i(0))
    yield strided(i(4), i(5), i(1), shrink_axis_mask=1)
    yield strided(i(0, 0, 0, 0), i(1, 1, 1, 1), i(1, 1, 1, 1))
    yield strided("int32[?]", "int32[?]", "int32[?]")
    yield "StridedSliceGrad", [i(4, 5), i(1), i(3), i(1), f("2,5")], {}
    yield "Tile", [f("2,?"), i(3, 2)], {}
    yield "Tile", [f("2,3"), "int32[2]"], {}
    yield "Tile", [f("2,3"), i(3)], {}
    yield "Pad", [f("2,?"), "int32[2,2]={1,2,0,3}"], {}
    yield "Pad", [f("2,3"), "int32[2,2]"], {}
    yield "Pad", [f("2,3"), "int32[1,2]={1,2}"], {}
    yield "PadV2", [f("2,3"), "int32[2,2]={1,2,0,3}", f("")], {}
    yield "MirrorPad", [f("2,3"), "int32[2,2]={1,1,0,2}"], {"mode": "REFLECT"}
    yield "ReverseV2", [f("2,3"), i(1)], {}
    yield "ReverseV2", [f("2,3"), i(2)], {}
    yield "GatherV2", [f("5,6,7"), "int32[2,3]", s(0)], {}
    yield "GatherV2", [f("5,6,7"), "int32[2,3]", s(-1)], {}
    yield "GatherV2", [f("5,6,7"), "int32[5,3]", s(1)], {"batch_dims": 1}
    yield "GatherV2", [f("5,6"), "int32[]", s(0)], {}
    yield "GatherV2", [f("5,6"), "int32[2]", "int32[]"], {}
    yield "GatherV2", [f("5,6"), "int32[2]", s(2)], {}
    yield "GatherV2", [f("5,6,7"), "int32[4,3]", s(1)], {"batch_dims": 1}
    yield "GatherNd", [f("5,6,7"), "int32[2,2]"], {}
    yield "GatherNd", [f("5,6"), "int32[2,3]"], {}
    yield "GatherNd", [f("5,6"), "int32[2,?]"], {}
    yield "ScatterNd", ["int32[2,1]", f("2,3"), i(5, 3)], {}
    yield "UnsortedSegmentSum", [f("4,3"), "int32[4]", s(5)], {}
    yield "UnsortedSegmentSum", [f("4,3"), "int32[4]", "int32[]"], {}
    yield "UnsortedSegmentSum", [f("4,3"), "int32[3]", s(5)], {}
    yield "RandomUniform", [i(2, 3)], {"dtype": tf.float32}
    yield "RandomUniform", ["int32[?]"], {"dtype": tf.float32}
    yield "RandomUniformInt", [i(2, 3), s(0), s(5)], {}
    yield "RandomShuffle", [f("?,3")], {}
    yield "StatelessRandomUniform", [i(2, 3), i(1, 2)], {}
    yield "StatelessRandomUniform", [i(2, 3), i(1, 2, 3)], {}
    yield "StatelessRandomGetKeyCounter", [i(1, 2)], {}
    yield "StatelessRandomUniformV2", [i(2, 3), "uint64[1]", "uint64[2]", s(1)], {}
    yield "PlaceholderWithDefault", [f("2,3")], {"shape": [None, 3]}
    yield "PlaceholderWithDefault", [f("2,3")], {"shape": [None, 4]}
    yield "EnsureShape", [f("?,3")], {"shape": [2, None]}
    yield "EnsureShape", [f("?,3")], {"shape": [2, 4]}
    yield "StringJoin", ["string[]", "string[3]"], {}
    yield "StringJoin", ["string[2]", "string[3]"], {}
    yield "AsString", [f("2,?")], {}
    yield "StaticRegexFullMatch", ["string[2]"], {"pattern": "a.*"}
    yield "StringFormat", [f("2,3"), f("2")], {"template": "%s"}
    yield "ShardedFilename", ["string[]", s(0), s(1)], {}


def value(text):
    dtype, rest = re.match(r"([a-z]+\d*)(.*)", text).groups()
    if rest == "<unknown>":
        return tf.compat.v1.placeholder(dtype, None)
    dims, _, values = rest.partition("=")
    dims = [None if d == "?" else int(d) for d in dims.strip("[]").split(",") if d]
    if not values:
        return tf.compat.v1.placeholder(dtype, dims)
    numbers = [float(v) for v in values.strip("{}").split(",") if v]
    return tf.constant(np.array(numbers).reshape(dims), dtype)


def attr(op_def, name, v):
    kind = next(a.type for a in op_def.attr if a.name == name)
    text = {bool: lambda: str(v).lower(), str: lambda: f"'{v}'", tf.DType: lambda: v.name}.get(
        type(v), lambda: str(v).replace("None", "-1"))()
    return f"{name}: {kind} = {text}"


def defaults(op_def):
    """Of the attributes that do not follow from the inputs."""
    inferred = {n for a in op_def.input_arg for n in (a.type_attr, a.number_attr, a.type_list_attr)}
    for a in op_def.attr:
        if a.name in inferred or not a.HasField("default_value"):
            continue
        v = a.default_value
        kind = v.WhichOneof("value")
        if kind == "list":
            yield a.name, list(v.list.i)
        else:
            yield a.name, tf.DType(v.type) if kind == "type" else getattr(v, kind)


def ask(op, inputs, attrs):
    op_def = op_def_registry.get(op)
    with tf.Graph().as_default():
        tensors = [value(text) for text in inputs]
        kwargs = {**dict(defaults(op_def)), **attrs}
        singles = sum(1 for a in op_def.input_arg if not a.number_attr and not a.type_list_attr)
        rest = list(tensors)
        for arg in op_def.input_arg:
            if arg.number_attr or arg.type_list_attr:
                n = len(tensors) - singles
                kwargs[arg.name], rest = rest[:n], rest[n:]
            else:
                kwargs[arg.name] = rest.pop(0)
        try:
            outputs = op_def_library.apply_op(op, **kwargs)
        except (ValueError, tf.errors.InvalidArgumentError) as e:
            return "error: " + str(e).split(" for '{{")[0].split(" for {{")[0].split("\n")[0]
        outputs = list(outputs) if isinstance(outputs, (list, tuple)) else [outputs]
        return "; ".join(
            "<unknown>" if o.shape.rank is None else
            "[" + ",".join("?" if d is None else str(d) for d in o.shape) + "]" for o in outputs)


def main():
    print("# op | inputs | attributes | output shapes or error, as TensorFlow has them.")
    print("# Made by tools/make_shape_cases.py.")
    for op, inputs, attrs in cases():
        op_def = op_def_registry.get(op)
        text = ", ".join(attr(op_def, k, v) for k, v in attrs.items())
        print(" | ".join((op, "; ".join(inputs), text, ask(op, inputs, attrs))))


if __name__ == "__main__":
    main()
