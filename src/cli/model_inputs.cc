// SPDX-License-Identifier: Apache-2.0
#include "cli/model_inputs.h"

#include <algorithm>
#include <functional>
#include <iterator>

#include "base/log.h"
#include "base/strings.h"
#include "model/python_expr.h"
#include "wire/npy.h"
#include "wire/npz.h"

namespace slipway::cli {
namespace {

struct KeyAndText {
  std::string key;
  std::string text;
};

// "KEY=TEXT;KEY=TEXT" of every use of a flag.
StatusOr<std::vector<KeyAndText>> SplitKeys(const std::vector<std::string>& uses,
                                            const char* wanted) {
  std::vector<KeyAndText> pairs;
  for (const std::string& use : uses) {
    for (const std::string_view piece : StrSplit(use, ';')) {
      if (StripWhitespace(piece).empty()) continue;
      const size_t equals = piece.find('=');
      if (equals == std::string_view::npos || equals == 0) {
        return InvalidArgumentError(
            StrCat(Quoted(piece), ": wanted ", wanted, ", several with ';' between"));
      }
      pairs.push_back({std::string(StripWhitespace(piece.substr(0, equals))),
                       std::string(piece.substr(equals + 1))});
    }
  }
  return pairs;
}

// "FILE" or "FILE[ARRAY]".
StatusOr<Tensor> ReadArrayFile(Env* env, std::string path) {
  std::string array;
  if (const size_t open = path.rfind('['); open != std::string::npos && path.ends_with(']')) {
    array = path.substr(open + 1, path.size() - open - 2);
    path.resize(open);
  }
  ASSIGN_OR_RETURN(const auto file, env->OpenForReading(path));
  std::string start(std::min<uint64_t>(2, file->size()), '\0');
  RETURN_IF_ERROR(file->Read(0, start.size(), start.data()));
  if (start == "PK") return ReadNpz(env, path, array);
  if (start.starts_with('\x80')) {
    return InvalidArgumentError(
        StrCat(path,
               " is a pickle, which may run any code when it is read, and is refused; "
               "save arrays with numpy.save or numpy.savez"));
  }
  if (!array.empty()) LOG_WARNING(path, " holds one array; its name '", array, "' is not needed");
  return ReadNpy(env, path);
}

StatusOr<Tensor> ReadExpression(const std::string& text) {
  ASSIGN_OR_RETURN(const model::PythonValue value, model::ParsePython(text));
  return model::ArrayFromPython(value);
}

StatusOr<Tensor> ReadExamples(const std::string& text) {
  ASSIGN_OR_RETURN(const model::PythonValue value, model::ParsePython(text, {.numpy = false}));
  if (value.kind != model::PythonValue::Kind::kList) {
    return InvalidArgumentError("tf.Example input must be a list of dictionaries");
  }
  Tensor examples(DType::kString, Shape({static_cast<int64_t>(value.items.size())}));
  for (size_t i = 0; i < value.items.size(); ++i) {
    ASSIGN_OR_RETURN(examples.flat<std::string>()[i], model::ExampleFromPython(value.items[i]));
  }
  return examples;
}

// An input that the signature does not know is told when it runs.
StatusOr<Tensor> Fitted(const model::Signature& signature, const std::string& key, Tensor tensor) {
  const int index = signature.FindInput(key);
  if (index < 0) return tensor;
  return model::ConvertArray(tensor, signature.inputs()[static_cast<size_t>(index)].dtype);
}

}  // namespace

std::vector<std::string> SplitTags(const std::string& tag_set) {
  std::vector<std::string> tags;
  for (const std::string_view tag : StrSplit(tag_set, ',')) {
    if (!StripWhitespace(tag).empty()) tags.emplace_back(StripWhitespace(tag));
  }
  return tags;
}

std::vector<Flag> ModelInputFlags::Table() {
  std::vector<Flag> table = {
      {"dir", &dir, "the SavedModel's directory"},
      {"tag_set", &tag_set, "tags of the MetaGraph, with ',' between"},
      {"signature_def", &signature, "the signature"},
      {"inputs", &inputs,
       "inputs as NAME=FILE.npy, or NAME=FILE.npz[ARRAY], several with ';' between"},
      {"input_exprs", &input_exprs,
       "inputs as NAME=EXPRESSION, several with ';' between: Python literals such as "
       "[[1, 2.5]], or np.ones((2, 3)) and the like"},
      {"input_examples", &input_examples,
       "inputs of serialized tf.Examples, as NAME=[{'feature': [1.0, 2.0]}]"}};
  std::vector<Flag> of_load = load.Table();
  std::move(of_load.begin(), of_load.end(), std::back_inserter(table));
  return table;
}

StatusOr<std::unique_ptr<model::SavedModel>> ModelInputFlags::Load(
    const model::LoadOptions& options) const {
  model::LoadOptions with_tags = options;
  with_tags.tags = SplitTags(tag_set);
  RETURN_IF_ERROR(load.Apply(&with_tags));
  return model::SavedModel::Load(Env::Default(), dir, with_tags);
}

StatusOr<model::TensorMap> ModelInputFlags::Inputs(const model::Signature& signature) const {
  struct Kind {
    const char* flag;
    const char* wanted;
    const std::vector<std::string>& uses;
    std::function<StatusOr<Tensor>(const std::string&)> read;
  };
  const auto read_file = [](const std::string& path) {
    return ReadArrayFile(Env::Default(), path);
  };
  const Kind kinds[] = {
      {"--inputs", "NAME=FILE.npy or NAME=FILE.npz[ARRAY]", inputs, read_file},
      {"--input_exprs", "NAME=EXPRESSION", input_exprs, ReadExpression},
      {"--input_examples", "NAME=[{'feature': [VALUES]}]", input_examples, ReadExamples}};
  model::TensorMap tensors;
  for (const Kind& kind : kinds) {
    auto pairs = SplitKeys(kind.uses, kind.wanted);
    if (!pairs.ok()) return pairs.status().WithContext(kind.flag);
    for (const auto& [key, text] : *pairs) {
      StatusOr<Tensor> tensor = kind.read(text);
      if (tensor.ok()) tensor = Fitted(signature, key, *std::move(tensor));
      if (!tensor.ok()) return tensor.status().WithContext(StrCat(kind.flag, " ", key));
      tensors.insert_or_assign(key, *std::move(tensor));
    }
  }
  return tensors;
}

}  // namespace slipway::cli
