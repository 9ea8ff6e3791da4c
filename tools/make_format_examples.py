#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the files of docs/formats/examples: a SavedModel small enough to be read byte by byte
(needs Python with TensorFlow, for the definitions of the messages only).

  make_format_examples.py docs/formats/examples

Each NAME.hex is a file in hexadecimal, a field a line, with a comment that says what it is; lines
that are further in are the field's message. The model multiplies its input by a variable, w = [2, 3].
"""
import os
import pathlib
import struct
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
from google.protobuf import text_format
from tensorflow.core.protobuf import saved_model_pb2, tensor_bundle_pb2, trackable_object_graph_pb2

MODEL = """
saved_model_schema_version: 1
meta_graphs {
  meta_info_def { tags: "serve" tensorflow_version: "2.21.0" }
  graph_def {
    node {
      name: "w" op: "VarHandleOp"
      attr { key: "dtype" value { type: DT_FLOAT } }
      attr { key: "shape" value { shape { dim { size: 2 } } } }
      attr { key: "shared_name" value { s: "w" } }
    }
    node {
      name: "serving_default_x" op: "Placeholder"
      attr { key: "dtype" value { type: DT_FLOAT } }
      attr { key: "shape" value { shape { dim { size: 2 } } } }
    }
    node {
      name: "StatefulPartitionedCall" op: "StatefulPartitionedCall"
      input: "serving_default_x" input: "w"
      attr { key: "Tin" value { list { type: DT_FLOAT type: DT_RESOURCE } } }
      attr { key: "Tout" value { list { type: DT_FLOAT } } }
      attr { key: "f" value { func { name: "__inference_multiply_1" } } }
    }
    node {
      name: "saver_filename" op: "Placeholder"
      attr { key: "dtype" value { type: DT_STRING } }
      attr { key: "shape" value { shape { } } }
    }
    node {
      name: "StatefulPartitionedCall_1" op: "StatefulPartitionedCall"
      input: "saver_filename" input: "w"
      attr { key: "Tin" value { list { type: DT_STRING type: DT_RESOURCE } } }
      attr { key: "Tout" value { list { type: DT_STRING } } }
      attr { key: "f" value { func { name: "__inference__traced_restore_2" } } }
    }
    library {
      function {
        signature {
          name: "__inference_multiply_1"
          input_arg { name: "x" type: DT_FLOAT }
          input_arg { name: "w" type: DT_RESOURCE }
          output_arg { name: "y" type: DT_FLOAT }
        }
        node_def {
          name: "read" op: "ReadVariableOp" input: "w"
          attr { key: "dtype" value { type: DT_FLOAT } }
        }
        node_def {
          name: "mul" op: "Mul" input: "x" input: "read:value:0"
          attr { key: "T" value { type: DT_FLOAT } }
        }
        ret { key: "y" value: "mul:z:0" }
      }
      function {
        signature {
          name: "__inference__traced_restore_2"
          input_arg { name: "file_prefix" type: DT_STRING }
          input_arg { name: "w" type: DT_RESOURCE }
          output_arg { name: "prefix" type: DT_STRING }
          is_stateful: true
        }
        node_def {
          name: "keys" op: "Const"
          attr { key: "dtype" value { type: DT_STRING } }
          attr { key: "value" value { tensor { dtype: DT_STRING tensor_shape { dim { size: 1 } } string_val: "w/.ATTRIBUTES/VARIABLE_VALUE" } } }
        }
        node_def {
          name: "slices" op: "Const"
          attr { key: "dtype" value { type: DT_STRING } }
          attr { key: "value" value { tensor { dtype: DT_STRING tensor_shape { dim { size: 1 } } string_val: "" } } }
        }
        node_def {
          name: "restore" op: "RestoreV2"
          input: "file_prefix" input: "keys:output:0" input: "slices:output:0"
          attr { key: "dtypes" value { list { type: DT_FLOAT } } }
        }
        node_def {
          name: "assign" op: "AssignVariableOp" input: "w" input: "restore:tensors:0"
          attr { key: "dtype" value { type: DT_FLOAT } }
        }
        node_def {
          name: "done" op: "Identity" input: "file_prefix" input: "^assign"
          attr { key: "T" value { type: DT_STRING } }
        }
        ret { key: "prefix" value: "done:output:0" }
      }
    }
    versions { producer: 2394 min_consumer: 12 }
  }
  saver_def {
    filename_tensor_name: "saver_filename:0"
    save_tensor_name: "saver_filename:0"
    restore_op_name: "StatefulPartitionedCall_1"
    version: V2
  }
  signature_def {
    key: "serving_default"
    value {
      inputs { key: "x" value { name: "serving_default_x:0" dtype: DT_FLOAT tensor_shape { dim { size: 2 } } } }
      outputs { key: "y" value { name: "StatefulPartitionedCall:0" dtype: DT_FLOAT tensor_shape { dim { size: 2 } } } }
      method_name: "tensorflow/serving/predict"
    }
  }
  object_graph_def {
    nodes {
      children { node_id: 1 local_name: "w" }
      children { node_id: 2 local_name: "signatures" }
      user_object { identifier: "_generic_user_object" version { producer: 1 min_consumer: 1 } }
    }
    nodes { variable { dtype: DT_FLOAT shape { dim { size: 2 } } trainable: true name: "w" } }
    nodes {
      children { node_id: 3 local_name: "serving_default" }
      user_object { identifier: "signature_map" version { producer: 1 min_consumer: 1 } }
    }
    nodes {
      bare_concrete_function { concrete_function_name: "__inference_multiply_1" argument_keywords: "x" }
    }
    concrete_functions {
      key: "__inference_multiply_1"
      value {
        bound_inputs: 1
        canonicalized_input_signature {
          tuple_value {
            values { tuple_value { } }
            values { dict_value { fields { key: "x" value { tensor_spec_value { name: "x" shape { dim { size: 2 } } dtype: DT_FLOAT } } } } }
          }
        }
        output_signature { dict_value { fields { key: "y" value { tensor_spec_value { name: "y" shape { dim { size: 2 } } dtype: DT_FLOAT } } } } }
      }
    }
  }
}
"""

# What the checkpoint's own entry says of the same objects: which key holds which variable.
OBJECT_GRAPH = """
nodes { children { node_id: 1 local_name: "w" } }
nodes { attributes { name: "VARIABLE_VALUE" full_name: "w" checkpoint_key: "w/.ATTRIBUTES/VARIABLE_VALUE" } }
"""
W = struct.pack("<2f", 2, 3)


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def masked(data):
    crc = crc32c(data)
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def varint(n):
    out = bytearray()
    n &= (1 << 64) - 1
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    return bytes(out + bytes([n]))


class Lines:
    """Pieces of a file: (depth, bytes, comment)."""

    def __init__(self):
        self.pieces = []

    def add(self, data, comment, depth=0):
        self.pieces.append((depth, data, comment))
        return self

    def extend(self, other, depth=0):
        self.pieces += [(depth + d, data, comment) for d, data, comment in other.pieces]
        return self

    def bytes(self):
        return b"".join(data for _, data, _ in self.pieces)

    def text(self, title):
        lines = [f"# {line}" for line in title.split("\n")]
        for depth, data, comment in self.pieces:
            if not data:
                lines.append(f"\n# {comment}")
            for at in range(0, len(data), 16):
                code = "  " * depth + " ".join(f"{b:02x}" for b in data[at:at + 16])
                lines.append(f"{code:<58}# {comment}" if at == 0 else code)
        return "\n".join(lines) + "\n"


SCALARS = {"int32": varint, "int64": varint, "enum": varint, "uint64": varint, "bool": lambda v: varint(int(v)),
           "fixed32": lambda v: struct.pack("<I", v)}


def annotate(message):
    """A message, field by field; those that a repeated field holds one after the other."""
    lines = Lines()
    for field, value in message.ListFields():
        is_map = field.message_type is not None and field.message_type.GetOptions().map_entry
        if is_map:
            entry = field.message_type._concrete_class
            value = [entry(key=k, value=value[k]) for k in sorted(value)]
        many = is_map or field.is_repeated
        kinds = {field.TYPE_INT32: "int32", field.TYPE_INT64: "int64", field.TYPE_ENUM: "enum",
                 field.TYPE_BOOL: "bool", field.TYPE_FIXED32: "fixed32", field.TYPE_UINT64: "uint64"}
        if many and field.type in kinds:  # packed
            data = b"".join(SCALARS[kinds[field.type]](v) for v in value)
            names = [field.enum_type.values_by_number[v].name if field.enum_type else str(v) for v in value]
            lines.add(varint(field.number << 3 | 2) + varint(len(data)) + data, f"{field.name} = {', '.join(names)}")
            continue
        for v in value if many else [value]:
            if field.message_type is not None:
                inner = annotate(v)
                lines.add(varint(field.number << 3 | 2) + varint(len(inner.bytes())), field.name)
                lines.extend(inner, 1)
            elif field.type in (field.TYPE_STRING, field.TYPE_BYTES):
                data = v.encode() if isinstance(v, str) else v
                lines.add(varint(field.number << 3 | 2) + varint(len(data)) + data, f'{field.name} = "{data.decode()}"')
            else:
                kind = kinds[field.type]
                name = field.enum_type.values_by_number[v].name if field.enum_type else str(v)
                lines.add(varint(field.number << 3 | (5 if kind == "fixed32" else 0)) + SCALARS[kind](v),
                          f"{field.name} = {name}")
    return lines


def parse(text, message):
    return text_format.Parse(text, message)


def table_block(entries):
    """A block with one restart point, of (key, lines of the value)."""
    lines = Lines()
    for key, value in entries:
        name = f'key "{key.decode()}"' if key.isascii() and key else "key, empty"
        size = len(value.bytes())
        lines.add(varint(0) + varint(len(key)) + varint(size), f"0 bytes shared, {len(key)} of key, {size} of value")
        if key:
            lines.add(key, name, 1)
        lines.extend(value, 1)
    return lines.add(struct.pack("<II", 0, 1), "the offset of the one restart point; how many there are")


def with_trailer(block):
    return block.add(b"\0", "not compressed").add(struct.pack("<I", masked(block.bytes())), "masked CRC32C of the block and its type")


def handle(offset, size):
    return varint(offset) + varint(size)


def index_file(graph_size, graph_crc):
    header = annotate(parse("num_shards: 1 version { producer: 1 }", tensor_bundle_pb2.BundleHeaderProto()))
    graph = annotate(parse(f"dtype: DT_STRING shape {{ }} size: {graph_size} crc32c: {graph_crc}", tensor_bundle_pb2.BundleEntryProto()))
    w = annotate(parse(f"dtype: DT_FLOAT shape {{ dim {{ size: 2 }} }} offset: {graph_size} size: {len(W)} crc32c: {masked(W)}",
                       tensor_bundle_pb2.BundleEntryProto()))
    file = Lines()

    def put(title, entries):
        block = table_block(entries)
        where = (len(file.bytes()), len(block.bytes()))
        file.add(b"", title)
        file.extend(with_trailer(block))
        return where

    data = put("the data block", [(b"", header), (b"_CHECKPOINTABLE_OBJECT_GRAPH", graph),
                                  (b"w/.ATTRIBUTES/VARIABLE_VALUE", w)])
    meta = put("the meta-index block", [])
    index = put("the index block", [(b"x", Lines().add(handle(*data), "offset and size of the data block"))])
    footer = handle(*meta) + handle(*index)
    file.add(b"", "the footer").add(handle(*meta), "offset and size of the meta-index block")
    file.add(handle(*index), "offset and size of the index block")
    file.add(bytes(40 - len(footer)), "zeros up to byte 40").add(struct.pack("<Q", 0xDB4775248B80FB57), "magic number")
    return file


def data_file():
    graph = annotate(parse(OBJECT_GRAPH, trackable_object_graph_pb2.TrackableObjectGraph()))
    text = graph.bytes()
    lengths = struct.pack("<I", len(text))
    check = struct.pack("<I", masked(lengths))
    file = Lines().add(varint(len(text)), "_CHECKPOINTABLE_OBJECT_GRAPH: the length of its one string")
    file.add(check, "masked CRC32C of the length as four bytes").extend(graph, 1)
    size = len(file.bytes())
    file.add(W, "w: 2.0, 3.0")
    return file, size, masked(lengths + check + text)


def main():
    out = pathlib.Path(sys.argv[1])
    data, graph_size, graph_crc = data_file()
    model = annotate(parse(MODEL, saved_model_pb2.SavedModel()))
    assert model.bytes() == parse(MODEL, saved_model_pb2.SavedModel()).SerializeToString(deterministic=True)
    (out / "saved_model.pb.hex").write_text(model.text("saved_model.pb: a message SavedModel"))
    (out / "variables.index.hex").write_text(index_file(graph_size, graph_crc).text("variables/variables.index: a sorted table"))
    (out / "variables.data.hex").write_text(data.text("variables/variables.data-00000-of-00001"))


main()
