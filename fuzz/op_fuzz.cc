// SPDX-License-Identifier: Apache-2.0
//
// Calls of single ops (lines of tests/golden/ops, and what mutation makes of them) with any
// attributes, shapes and values: shape functions and kernels give an error or an answer.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "ir/op_schema.h"
#include "kernels/testing.h"
#include "op_case.h"
#include "tensor/allocator.h"

namespace {

using namespace slipway;
using namespace slipway::kernels;
using Json = nlohmann::json;

void RunLine(std::string_view line) {
  ir::Graph graph;
  try {
    const auto parsed = ParseOpCase(line);
    if (!parsed.ok()) return;
    BuildOpCaseNode(&graph, *parsed, /*with_shapes=*/true).status().IgnoreError();
    const auto node = BuildOpCaseNode(&graph, *parsed, /*with_shapes=*/false);
    if (!node.ok()) return;
    const auto env = NewMemoryEnv();
    RunNodeOptions options;
    options.env = env.get();
    RunNode(**node, parsed->inputs, options).status().IgnoreError();
  } catch (const Json::exception&) {  // a value of another JSON type than the reader of cases wants
  }
}

std::vector<std::string> LinesOf(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    if (end > 0) lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

class Mutator {
 public:
  explicit Mutator(uint32_t seed) : random_(seed) {}

  const std::string& Choose(const std::vector<std::string>& lines) {
    return lines[Below(lines.size())];
  }

  void Change(Json* call) {
    Json& attrs = (*call)["attrs"];
    Json& inputs = (*call)[call->contains("variables") && Below(3) == 0 ? "variables" : "inputs"];
    if (Below(20) == 0) {
      const auto schemas = ir::AllOpSchemas();
      (*call)["op"] = schemas[Below(schemas.size())]->name;
    } else if (attrs.is_object() && !attrs.empty() && Below(3) == 0) {
      ChangeAttr(&*Any(attrs));
    } else if (inputs.is_object() && !inputs.empty()) {
      ChangeTensor(&*Any(inputs));
    }
  }

 private:
  size_t Below(size_t n) { return random_() % n; }
  Json::iterator Any(Json& object) {
    auto it = object.begin();
    std::advance(it, static_cast<std::ptrdiff_t>(Below(object.size())));
    return it;
  }
  int64_t Number() {
    constexpr int64_t kEdges[] = {0,       1,         2,         3,         4,        -1,
                                  -2,      5,         8,         64,        255,      1 << 16,
                                  1 << 30, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN};
    return kEdges[Below(std::size(kEdges))];
  }
  Json Value(const Json& old) {
    if (old.is_string()) return Below(2) == 0 ? "" : old.get<std::string>() + "9";
    if (old.is_boolean()) return !old.get<bool>();
    if (Below(6) == 0) return Below(2) == 0 ? "NaN" : "Infinity";
    return Number();
  }
  void ChangeAttr(Json* attr) {
    if (!attr->is_array()) {
      *attr = attr->is_number() ? Json(Number()) : Value(*attr);
    } else if (attr->empty() || Below(4) == 0) {
      attr->push_back(attr->empty() ? Json(Number()) : attr->front());
    } else if (Below(4) == 0) {
      attr->erase(attr->size() - 1);
    } else {
      ChangeAttr(&(*attr)[Below(attr->size())]);
    }
  }
  // Shape and values go on agreeing, so that the kernel is reached.
  void ChangeTensor(Json* tensor) {
    if (!tensor->contains("shape") || !tensor->contains("values")) return;
    Json& shape = (*tensor)["shape"];
    Json& values = (*tensor)["values"];
    if (!shape.is_array() || !values.is_array()) return;
    if (!values.empty() && Below(2) == 0) {
      Json& value = values[Below(values.size())];
      value = Value(value);
      return;
    }
    if (Below(12) == 0) {
      constexpr const char* kTypes[] = {"DT_FLOAT", "DT_INT32", "DT_INT64", "DT_BOOL", "DT_HALF"};
      (*tensor)["dtype"] = kTypes[Below(std::size(kTypes))];
      return;
    }
    ChangeShape(&shape);
    Resize(shape, &values);
  }
  void ChangeShape(Json* shape) {
    switch (Below(3)) {
      case 0:
        shape->push_back(Below(4));
        break;
      case 1:
        if (!shape->empty()) shape->erase(shape->size() - 1);
        break;
      default:
        if (!shape->empty()) (*shape)[Below(shape->size())] = Below(6);
    }
  }
  static void Resize(const Json& shape, Json* values) {
    size_t elements = 1;
    for (const Json& dim : shape) elements *= dim.is_number_unsigned() ? dim.get<size_t>() : 0;
    const Json old = *values;
    *values = Json::array();
    for (size_t i = 0; i < std::min<size_t>(elements, 4096); ++i) {
      values->push_back(old.empty() ? Json(0) : old[i % old.size()]);
    }
  }

  std::mt19937 random_;
};

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  SetCpuMemoryLimit(int64_t{64} << 20);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  for (const std::string& line : LinesOf({reinterpret_cast<const char*>(data), size}))
    RunLine(line);
  return 0;
}

// A file of cases is a seed of as many lines; what comes out is one of them, changed.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned int seed) {
  static std::vector<std::string> seen;  // lines of the seeds
  const auto lines = LinesOf({reinterpret_cast<const char*>(data), size});
  if (lines.empty()) return size;
  if (lines.size() > 1 && seen.size() < 100'000)
    seen.insert(seen.end(), lines.begin(), lines.end());
  Mutator mutator(seed);
  Json call =
      Json::parse(mutator.Choose(seen.empty() || seed % 2 == 0 ? lines : seen), nullptr, false);
  if (!call.is_object()) return size;
  call.erase("outputs");
  call.erase("after");
  call.erase("error");
  for (unsigned i = 0; i <= seed % 3; ++i) mutator.Change(&call);
  const std::string text = call.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (text.size() > max_size) return size;
  std::memcpy(data, text.data(), text.size());
  return text.size();
}
