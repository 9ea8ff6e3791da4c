// SPDX-License-Identifier: Apache-2.0
//
// What an op is: its arguments, attributes with defaults, effects and shape function. Names, order
// and defaults are TensorFlow's (its OpDefs), so that files need no translation.
//
// Schemas are written as text in tables, one file a family (ir/ops/math.cc …), and listed in
// ir/ops/all.cc:
//   {"MatMul", "a: T, b: T", "product: T",
//    "transpose_a: bool = false, transpose_b: bool = false, T: numeric", kPure, MatMulShape}
// An argument's type is a dtype ("int32"), a type attribute ("T"), a number of them ("N * T") or a
// list attribute ("Tin").
// An attribute's type is int, float, bool, string, type, shape, tensor, func or list(…) of one;
// allowed values stand for the type ("T: {float32, int32}", "padding: {'SAME', 'VALID'}",
// "T: list({…})"), where numeric, realnumeric, floating and index name common sets; "int >= 1" and
// "list(type) >= 1" set a minimum. After that, "= value" is the default: 3, 0.5, true, 'text',
// float32, [1, 2] for a list or shape, unknown for a shape of unknown rank.
// tools/make_op_schemas.py prints these texts from TensorFlow's own registry.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/attr.h"
#include "slipway/status.h"

namespace slipway::ir {

class Node;
class ShapeContext;

// What running the node does beside computing its outputs; decides what passes may move or drop.
enum class Effect : uint8_t {
  kPure,            // same inputs, same outputs; may be folded, shared and dropped
  kReadsResource,   // depends on the state behind a resource input (ReadVariableOp)
  kWritesResource,  // changes it (AssignVariableOp); never dropped, program order kept
  kStateful,        // any other effect or state (print, files, calls of stateful functions)
  kRandom,  // draws from a generator of its own: may be dropped, never shared or folded, and
            // has no order among others
};

// Sets the outputs' shapes from what is known of the inputs. INVALID_ARGUMENT: the shapes can
// never fit; the message names both.
using ShapeFn = Status (*)(ShapeContext&);

// The text form, as it stands in the tables.
struct OpSchemaText {
  const char* name;
  const char* inputs;
  const char* outputs;
  const char* attrs;
  Effect effect;
  ShapeFn shape;  // null: outputs of unknown shape
};

struct OpSchema {
  struct Arg {
    std::string name;
    DType dtype = DType::kInvalid;  // if fixed
    std::string type_attr;          // else the attribute that gives it
    std::string number_attr;        // "N * T": how many
    std::string type_list_attr;     // a list of types, one element each
  };
  struct Attr {
    std::string name;
    std::string type;  // "int", "float", "bool", "string", "type", "shape", "tensor",
                       // "func" or "list(…)" of them
    bool has_default = false;
    AttrValue default_value;
    // Values it may have (elements, of a list); empty: any.
    std::vector<DType> allowed_types;
    std::vector<std::string> allowed_strings;
    // Least value of an int, least length of a list.
    std::optional<int64_t> minimum;
  };

  std::string name;
  std::vector<Arg> inputs;
  std::vector<Arg> outputs;
  std::vector<Attr> attrs;
  Effect effect = Effect::kPure;
  ShapeFn shape = nullptr;

  const Attr* FindAttr(std::string_view attr) const;
};

// The schema of an op, or null if we have none. The registry is made once, on first use, and is
// immutable then. Thread safe.
const OpSchema* FindOpSchema(std::string_view op);
// All of them, by name.
std::vector<const OpSchema*> AllOpSchemas();

// The dtypes of a node's inputs and outputs under the schema, argument lists flattened.
// INVALID_ARGUMENT names the attribute that is missing or of the wrong type.
struct Dtypes {
  std::vector<DType> inputs;
  std::vector<DType> outputs;
};
StatusOr<Dtypes> ResolveDtypes(const OpSchema& schema, const AttrMap& attrs);

// A FunctionDef's edge "node:product:0" as a flat output index. INVALID_ARGUMENT if there is no
// such argument or index.
StatusOr<int> FlatOutputIndex(const OpSchema& schema, const AttrMap& attrs, std::string_view arg,
                              int index);

}  // namespace slipway::ir
