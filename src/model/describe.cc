// SPDX-License-Identifier: Apache-2.0
#include "model/describe.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/strings.h"

namespace slipway::model {
namespace {

using formats::MetaGraph;
using formats::SignatureDef;
using formats::SignatureTensor;

std::string TagKey(std::vector<std::string> tags) {
  std::sort(tags.begin(), tags.end());
  return StrJoin(tags, ", ");
}

StatusOr<const MetaGraph*> FindMetaGraph(const formats::SavedModelFile& file,
                                         const std::vector<std::string>& tags) {
  std::vector<std::string> known;
  for (const auto& meta_graph : file.meta_graphs) {
    if (TagKey(meta_graph.tags) == TagKey(tags)) return &meta_graph;
    known.push_back(StrCat("'", TagKey(meta_graph.tags), "'"));
  }
  return NotFoundError(StrCat("MetaGraphDef associated with tag-set ", TagKey(tags),
                              " could not be found in the SavedModel. Please use one of the "
                              "following tag-sets: ",
                              known.empty() ? "none" : StrJoin(known, ", ")));
}

// All entries, pseudo ones included, by name.
std::map<std::string, const SignatureDef*> AllSignatures(const MetaGraph& meta_graph) {
  std::map<std::string, const SignatureDef*> all;
  for (const auto& [name, def] : meta_graph.signatures) all.emplace(name, &def);
  for (const auto& [name, def] : meta_graph.pseudo_signatures) all.emplace(name, &def);
  return all;
}

StatusOr<const SignatureDef*> FindSignature(const MetaGraph& meta_graph, const std::string& name) {
  const auto all = AllSignatures(meta_graph);
  if (const auto it = all.find(name); it != all.end()) return it->second;
  std::vector<std::string> names;
  for (const auto& [known, def] : all) names.push_back(known);
  return InvalidArgumentError(StrCat("Could not find signature \"", name,
                                     "\". Please choose from: ", StrJoin(names, ", ")));
}

std::string ShapeText(const PartialShape& shape) {
  if (!shape.has_rank()) return "unknown_rank";
  return StrCat("(", StrJoin(shape.dims(), ", "), ")");
}

std::string TensorNameText(const SignatureTensor& tensor) {
  return tensor.components.empty() ? tensor.tensor_name : StrJoin(tensor.components, ", ");
}

std::string TypeText(const SignatureTensor& tensor) {
  if (tensor.dtype == DType::kInvalid) return "DT_INVALID";
  return StrCat(DTypeEnumName(tensor.dtype), tensor.is_reference ? "_REF" : "");
}

void AppendTensor(const char* kind, const SignatureTensor& tensor, const std::string& indent,
                  std::string* out) {
  StrAppend(out, indent, "  ", kind, "['", tensor.name, "'] tensor_info:\n");
  StrAppend(out, indent, "      dtype: ", TypeText(tensor), "\n");
  StrAppend(out, indent, "      shape: ", ShapeText(tensor.shape), "\n");
  StrAppend(out, indent, "      name: ", TensorNameText(tensor), "\n");
}

void AppendSignature(const SignatureDef& def, const std::string& indent, std::string* out) {
  StrAppend(out, indent, "The given SavedModel SignatureDef contains the following input(s):\n");
  for (const auto& tensor : def.inputs) AppendTensor("inputs", tensor, indent, out);
  StrAppend(out, indent, "The given SavedModel SignatureDef contains the following output(s):\n");
  for (const auto& tensor : def.outputs) AppendTensor("outputs", tensor, indent, out);
  StrAppend(out, indent, "Method name is: ", def.method_name, "\n");
}

// "['serve', 'int8']" without the brackets.
template <typename Range>
std::string QuotedList(const Range& range) {
  std::vector<std::string> quoted;
  for (const auto& element : range) quoted.push_back(StrCat("'", element, "'"));
  return StrJoin(quoted, ", ");
}

// The text that Python prints for a set of names, sorted.
std::string SetText(const std::set<std::string>& names) {
  return names.empty() ? "set()" : StrCat("{", QuotedList(names), "}");
}

void AppendOps(const MetaGraph& meta_graph, std::string* out) {
  StrAppend(out, "The MetaGraph with tag set [", QuotedList(meta_graph.tags),
            "] contains the following ops: ", SetText(meta_graph.ops), "\n");
}

void AppendMetaGraph(const MetaGraph& meta_graph, std::string* out) {
  StrAppend(out, "\nMetaGraphDef with tag-set: '", StrJoin(meta_graph.tags, ", "),
            "' contains the following SignatureDefs:\n");
  for (const auto& [name, def] : AllSignatures(meta_graph)) {
    StrAppend(out, "\nsignature_def['", name, "']:\n");
    AppendSignature(*def, "  ", out);
  }
  AppendOps(meta_graph, out);
}

// An argument that is a list or a dictionary is printed element by element there, the last comma
// taken back with backspaces.
std::string ArgumentText(const formats::PythonArgument& argument) {
  std::string value = argument.value;
  const bool several = value.size() >= 2 && (argument.type == "list" || argument.type == "tuple" ||
                                             argument.type == "dict");
  if (!several) return value;
  const char open = argument.type == "dict" ? '{' : '[';
  std::string inner = value.substr(1, value.size() - 2);
  if (argument.type == "tuple" && inner.ends_with(',')) inner.pop_back();
  if (!inner.empty()) inner += ", ";
  return StrCat(open, inner, "\b\b", open == '{' ? '}' : ']');
}

void AppendArgument(const formats::PythonArgument& argument, std::string* out) {
  const std::string indent(8, ' ');
  if (!argument.name.empty()) {
    StrAppend(out, indent, "  ", argument.name, ": ", argument.value, "\n");
  } else if (argument.type == "str") {
    StrAppend(out, indent, "  ", argument.value, "\n");
  } else {
    StrAppend(out, indent, "  DType: ", argument.type, "\n", indent,
              "  Value: ", ArgumentText(argument), "\n");
  }
}

void AppendFunction(const formats::PythonFunction& function, std::string* out) {
  StrAppend(out, "\n  Function Name: '", function.name, "'\n");
  int number = 0;
  for (const auto& option : function.options) {
    ++number;
    if (!option.args.empty()) {
      StrAppend(out, "    Option #", number, "\n      Callable with:\n");
    }
    for (size_t i = 0; i < option.args.size(); ++i) {
      StrAppend(out, "        Argument #", i + 1, "\n");
      AppendArgument(option.args[i], out);
    }
    for (size_t i = 0; i < option.keywords.size(); ++i) {
      StrAppend(out, "        Named Argument #", i + 1, "\n          ", option.keywords[i], "\n");
    }
  }
}

void AppendFunctions(const formats::SavedModelFile& file, std::string* out) {
  const bool any = std::ranges::any_of(file.meta_graphs, &MetaGraph::has_object_graph);
  if (!any) return;
  StrAppend(out, "\nConcrete Functions:");
  if (file.meta_graphs.size() > 1) {  // whose functions, is not said there
    StrAppend(out, " N/A (could not be listed due to unknown reasons)\n");
    return;
  }
  for (const auto& function : file.meta_graphs[0].python_functions) AppendFunction(function, out);
}

std::vector<const MetaGraph*> ByTags(const formats::SavedModelFile& file) {
  std::vector<const MetaGraph*> sorted;
  for (const auto& meta_graph : file.meta_graphs) sorted.push_back(&meta_graph);
  std::ranges::stable_sort(sorted, {}, &MetaGraph::tags);
  return sorted;
}

std::string TagSetsText(const formats::SavedModelFile& file) {
  std::string out = "The given SavedModel contains the following tag-sets:\n";
  for (const auto* meta_graph : ByTags(file)) {
    StrAppend(&out, "'", TagKey(meta_graph->tags), "'\n");
  }
  return out;
}

using Json = nlohmann::ordered_json;

Json TensorsJson(const std::vector<SignatureTensor>& tensors) {
  Json out = Json::object();
  for (const auto& tensor : tensors) {
    Json& entry = out[tensor.name];
    entry["dtype"] = TypeText(tensor);
    if (tensor.shape.has_rank()) {
      entry["shape"] = tensor.shape.dims();
    } else {
      entry["shape"] = nullptr;
    }
    if (tensor.components.empty()) {
      entry["name"] = tensor.tensor_name;
    } else {
      entry["components"] = tensor.components;
    }
  }
  return out;
}

Json FunctionJson(const formats::PythonFunction& function) {
  Json options = Json::array();
  for (const auto& option : function.options) {
    Json args = Json::array();
    for (const auto& arg : option.args) {
      Json entry = {{"type", arg.type}, {"value", arg.value}};
      if (!arg.name.empty()) entry["name"] = arg.name;
      args.push_back(std::move(entry));
    }
    options.push_back({{"args", std::move(args)}, {"keywords", option.keywords}});
  }
  return options;
}

Json MetaGraphJson(const MetaGraph& meta_graph, const std::string& only_signature, bool with_ops) {
  Json out;
  out["tags"] = meta_graph.tags;
  Json& signatures = out["signatures"] = Json::object();
  for (const auto& [name, def] : AllSignatures(meta_graph)) {
    if (!only_signature.empty() && name != only_signature) continue;
    signatures[name] = {{"method_name", def->method_name},
                        {"inputs", TensorsJson(def->inputs)},
                        {"outputs", TensorsJson(def->outputs)}};
  }
  Json& variables = out["variables"] = Json::array();
  for (const auto& variable : meta_graph.variables) {
    variables.push_back(
        {{"name", variable.name},
         {"dtype", std::string(DTypeEnumName(variable.dtype))},
         {"shape", variable.shape.has_rank() ? Json(variable.shape.dims()) : Json(nullptr)},
         {"trainable", variable.trainable}});
  }
  Json& assets = out["assets"] = Json::array();
  for (const auto& asset : meta_graph.assets) assets.push_back(asset.filename);
  Json& functions = out["functions"] = Json::object();
  for (const auto& function : meta_graph.python_functions) {
    functions[function.name] = FunctionJson(function);
  }
  if (with_ops) out["ops"] = meta_graph.ops;
  return out;
}

}  // namespace

StatusOr<std::string> DescribeText(const formats::SavedModelFile& file,
                                   const DescribeOptions& options) {
  std::string out;
  if (options.all) {
    for (const auto* meta_graph : ByTags(file)) AppendMetaGraph(*meta_graph, &out);
    AppendFunctions(file, &out);
    return out;
  }
  if (options.tags.empty()) {
    if (options.list_ops) out = "--list_ops must be paired with a tag-set or with --all.\n";
    return out + TagSetsText(file);
  }
  ASSIGN_OR_RETURN(const MetaGraph* meta_graph, FindMetaGraph(file, options.tags));
  if (options.list_ops) AppendOps(*meta_graph, &out);
  if (options.signature.empty()) {
    out += "The given SavedModel MetaGraphDef contains SignatureDefs with the following keys:\n";
    for (const auto& [name, def] : AllSignatures(*meta_graph)) {
      StrAppend(&out, "SignatureDef key: \"", name, "\"\n");
    }
    return out;
  }
  ASSIGN_OR_RETURN(const SignatureDef* def, FindSignature(*meta_graph, options.signature));
  AppendSignature(*def, "", &out);
  return out;
}

StatusOr<std::string> DescribeJson(const formats::SavedModelFile& file,
                                   const DescribeOptions& options) {
  Json out;
  Json& meta_graphs = out["meta_graphs"] = Json::array();
  if (options.all || options.tags.empty()) {
    for (const auto& meta_graph : file.meta_graphs) {
      meta_graphs.push_back(MetaGraphJson(meta_graph, "", options.all || options.list_ops));
    }
  } else {
    ASSIGN_OR_RETURN(const MetaGraph* meta_graph, FindMetaGraph(file, options.tags));
    if (!options.signature.empty()) {
      RETURN_IF_ERROR(FindSignature(*meta_graph, options.signature).status());
    }
    meta_graphs.push_back(MetaGraphJson(*meta_graph, options.signature, options.list_ops));
  }
  // Names come from a file and need not be UTF-8.
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace slipway::model
