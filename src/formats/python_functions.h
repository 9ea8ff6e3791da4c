// SPDX-License-Identifier: Apache-2.0
//
// What tf.saved_model.load would let Python call: the functions that are attributes of the root of
// the object graph, and the arguments that each was traced with, as Python would print them. For
// listings only; nothing is run by it.
#pragma once

#include <string>
#include <vector>

namespace tensorflow {
class SavedObjectGraph;
class StructuredValue;
}  // namespace tensorflow

namespace slipway::formats {

// A value as Python has it.
struct PythonArgument {
  std::string name;   // of a tensor's spec; "None" for one without; empty for other values
  std::string type;   // "TensorSpec", "bool", "NoneType", "list", "RaggedTensorSpec"…
  std::string value;  // repr() of a spec, str() of another value
};

struct PythonFunction {
  // One set of arguments that may be given.
  struct Option {
    std::vector<PythonArgument> args;   // positional
    std::vector<std::string> keywords;  // names of keyword-only ones, sorted
  };
  std::string name;  // of the attribute
  std::vector<Option> options;
};

// By name. What cannot be understood (an index that leads nowhere) is left out: nothing but a
// listing depends on it.
std::vector<PythonFunction> ListPythonFunctions(const tensorflow::SavedObjectGraph& objects);

// str() of a value: text without quotes, a list as in "[1, 'a', None]".
std::string PythonStr(const tensorflow::StructuredValue& value);
// repr() of a value: as str(), but text with quotes.
std::string PythonRepr(const tensorflow::StructuredValue& value);

}  // namespace slipway::formats
