#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints op schemas from TensorFlow's registry (needs Python with TensorFlow).

  make_op_schemas.py OP...            rows for the tables in src/ir/ops/*.cc; effect and shape
                                      function are then filled in by hand
  make_op_schemas.py --golden OP...   lines for tests/golden/ir/op_schemas.txt, which a test
                                      compares with the tables
  make_op_schemas.py --golden --file FILE   the same for the ops that FILE's lines begin with
"""
import argparse
import sys

from tensorflow.core.framework import types_pb2
from tensorflow.python.framework import op_def_registry

NAMES = {
    "DT_FLOAT": "float32", "DT_DOUBLE": "float64", "DT_INT32": "int32", "DT_UINT8": "uint8",
    "DT_INT16": "int16", "DT_INT8": "int8", "DT_STRING": "string", "DT_COMPLEX64": "complex64",
    "DT_INT64": "int64", "DT_BOOL": "bool", "DT_QINT8": "qint8", "DT_QUINT8": "quint8",
    "DT_QINT32": "qint32", "DT_BFLOAT16": "bfloat16", "DT_QINT16": "qint16",
    "DT_QUINT16": "quint16", "DT_UINT16": "uint16", "DT_COMPLEX128": "complex128",
    "DT_HALF": "float16", "DT_RESOURCE": "resource", "DT_VARIANT": "variant",
    "DT_UINT32": "uint32", "DT_UINT64": "uint64",
}
SETS = {
    "numeric": {"float32", "float64", "int32", "uint8", "int16", "int8", "complex64", "int64",
                "qint8", "quint8", "qint32", "bfloat16", "qint16", "quint16", "uint16",
                "complex128", "float16", "uint32", "uint64"},
    "realnumeric": {"float32", "float64", "int32", "uint8", "int16", "int8", "int64", "bfloat16",
                    "uint16", "float16", "uint32", "uint64"},
    "floating": {"float16", "bfloat16", "float32", "float64"},
    "index": {"int32", "int64"},
}
WIDTH = 100


def dtype(number):
    """The name of a DataType, None for those that the program does not have."""
    if number > 100:  # a reference is recorded as its base
        number -= 100
    return NAMES.get(types_pb2.DataType.Name(number))


def quote(text):
    return "'" + text.decode().replace("\n", "\\n") + "'"


def number(value):
    """The shortest text that reads back as the same float32, written as C++ writes it."""
    import numpy as np
    text = repr(float(str(np.float32(value))))
    mantissa, _, exponent = text.partition("e")
    mantissa = mantissa.removesuffix(".0")
    return mantissa + ("e" + exponent if exponent else "")


def shape(value):
    return "unknown" if value.unknown_rank else "[" + ", ".join(str(d.size) for d in value.dim) + "]"


def default(attr):
    value = attr.default_value
    kind = value.WhichOneof("value")
    if kind == "list":
        elements = ([quote(s) for s in value.list.s] + [str(i) for i in value.list.i] +
                    [number(f) for f in value.list.f] + [str(b).lower() for b in value.list.b] +
                    [dtype(t) for t in value.list.type] + [shape(s) for s in value.list.shape])
        return "[" + ", ".join(elements) + "]"
    return {"s": lambda: quote(value.s), "i": lambda: str(value.i), "f": lambda: number(value.f),
            "b": lambda: str(value.b).lower(), "type": lambda: dtype(value.type),
            "shape": lambda: shape(value.shape)}[kind]()


def attr_text(attr, named_sets):
    kind = attr.type.removeprefix("list(").removesuffix(")")
    types = [t for t in map(dtype, attr.allowed_values.list.type) if t]
    if types:
        kind = "{" + ", ".join(sorted(set(types))) + "}"
        if named_sets:
            kind = next((n for n, s in SETS.items() if s == set(types)), kind)
    elif attr.allowed_values.list.s:
        kind = "{" + ", ".join(map(quote, sorted(attr.allowed_values.list.s))) + "}"
    text = f"{attr.name}: " + (f"list({kind})" if attr.type.startswith("list(") else kind)
    if attr.has_minimum:
        text += f" >= {attr.minimum}"
    if attr.HasField("default_value"):
        text += f" = {default(attr)}"
    return text


def arg_text(arg):
    kind = arg.type_attr or arg.type_list_attr or dtype(arg.type)
    return f"{arg.name}: " + (f"{arg.number_attr} * {kind}" if arg.number_attr else kind)


def parts(op_def, named_sets):
    return (", ".join(map(arg_text, op_def.input_arg)), ", ".join(map(arg_text, op_def.output_arg)),
            ", ".join(attr_text(a, named_sets) for a in op_def.attr))


def literal(text, indent):
    """A C++ string literal, in several lines if it is long."""
    text = text.replace("\\", "\\\\")
    lines, line = [], ""
    for word in text.split(" "):
        piece = word if not line else " " + word
        if len(indent) + len(line) + len(piece) + 5 > WIDTH:
            lines.append(line)
            line = piece
        else:
            line += piece
    return f"\n{indent}".join(f'"{l}"' for l in lines + [line])


def row(op_def, effect=None, shape_fn="nullptr"):
    inputs, outputs, attrs = parts(op_def, True)
    effect = effect or ("kStateful" if op_def.is_stateful else "kPure")
    fields = [f'"{op_def.name}"', f'"{inputs}"', f'"{outputs}"', f'"{attrs}"', effect, shape_fn]
    line = "    {" + ", ".join(fields) + "},"
    if len(line) <= WIDTH:
        return line
    head = f'    {{"{op_def.name}", "{inputs}", "{outputs}",'
    if len(head) > WIDTH:
        head = f'    {{"{op_def.name}",\n     {literal(inputs, "     ")},\n     "{outputs}",'
    attrs_text = literal(attrs, "     ")
    last = attrs_text.rsplit("\n", 1)[-1].strip()
    tail = f"{effect}, {shape_fn}}},"
    glue = " " if len(last) + len(tail) + 7 <= WIDTH else "\n     "
    return f"{head}\n     {attrs_text},{glue}{tail}"


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ops", nargs="*")
    parser.add_argument("--golden", action="store_true")
    parser.add_argument("--file")
    args = parser.parse_args()
    ops = list(args.ops)
    if args.file:
        with open(args.file, encoding="utf-8") as f:
            ops += [line.split(" | ")[0] for line in f if line.strip() and line[0] != "#"]
    if args.golden:
        print("# op | inputs | outputs | attributes, as TensorFlow's registry has them.")
        print("# Made by tools/make_op_schemas.py --golden.")
    for op in sorted(set(ops)) if args.golden else ops:
        op_def = op_def_registry.get(op)
        if op_def is None:
            sys.exit(f"TensorFlow has no op {op}")
        print(" | ".join((op, *parts(op_def, False))) if args.golden else row(op_def))


if __name__ == "__main__":
    main()
