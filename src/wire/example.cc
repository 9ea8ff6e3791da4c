// SPDX-License-Identifier: Apache-2.0
#include "wire/example.h"

#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "base/strings.h"
#include "wire/base64.h"
#include "wire/coding.h"

namespace slipway {
namespace {

// The entries of a map from names to messages: field 1 of Features and of FeatureLists.
Status ReadMap(std::string_view bytes, std::vector<NamedFeature>* entries) {
  ProtoReader map(bytes);
  while (map.Next()) {
    if (map.tag() != BytesField(1)) continue;
    NamedFeature entry;
    ProtoReader fields(map.bytes());
    while (fields.Next()) {
      if (fields.tag() == BytesField(1)) entry.name = fields.bytes();
      if (fields.tag() == BytesField(2)) entry.bytes = fields.bytes();
    }
    RETURN_IF_ERROR(fields.status("Features"));
    entries->push_back(entry);
  }
  return map.status("Features");
}

template <typename Unpacked, typename Packed>
bool ReadNumbers(std::string_view list, uint64_t unpacked_tag, Unpacked&& one, Packed&& many) {
  ProtoReader reader(list);
  while (reader.Next()) {
    if (reader.tag() == unpacked_tag) {
      one(reader);
    } else if (reader.tag() == BytesField(1) && !many(reader.bytes())) {
      return false;
    }
  }
  return reader.ok();
}

}  // namespace

Status ReadExample(std::string_view example, std::vector<NamedFeature>* features) {
  ProtoReader reader(example);
  while (reader.Next()) {
    if (reader.tag() == BytesField(1)) RETURN_IF_ERROR(ReadMap(reader.bytes(), features));
  }
  return reader.status("Example");
}

Status ReadSequenceExample(std::string_view example, std::vector<NamedFeature>* context,
                           std::vector<NamedFeature>* lists) {
  ProtoReader reader(example);
  while (reader.Next()) {
    if (reader.tag() == BytesField(1)) RETURN_IF_ERROR(ReadMap(reader.bytes(), context));
    if (reader.tag() == BytesField(2)) RETURN_IF_ERROR(ReadMap(reader.bytes(), lists));
  }
  return reader.status("SequenceExample");
}

Status ReadFeatureList(std::string_view list, std::vector<std::string_view>* features) {
  ProtoReader reader(list);
  while (reader.Next()) {
    if (reader.tag() == BytesField(1)) features->push_back(reader.bytes());
  }
  return reader.status("FeatureList");
}

StatusOr<FeatureView> ReadFeature(std::string_view feature) {
  FeatureView view;
  ProtoReader reader(feature);
  while (reader.Next()) {
    constexpr DType kKinds[] = {DType::kString, DType::kFloat, DType::kInt64};
    if (reader.type() != WireType::kBytes || reader.field() < 1 || reader.field() > 3) continue;
    view = {kKinds[reader.field() - 1], reader.bytes()};
  }
  RETURN_IF_ERROR(reader.status("Feature"));
  return view;
}

bool AppendValues(std::string_view list, std::vector<float>* values) {
  return ReadNumbers(
      list, Fixed32Field(1), [&](const ProtoReader& r) { values->push_back(r.float32()); },
      [&](std::string_view packed) {
        if (packed.size() % sizeof(float) != 0) return false;
        const size_t before = values->size();
        values->resize(before + packed.size() / sizeof(float));
        if (!packed.empty()) std::memcpy(values->data() + before, packed.data(), packed.size());
        return true;
      });
}

bool AppendValues(std::string_view list, std::vector<int64_t>* values) {
  return ReadNumbers(
      list, VarintField(1), [&](const ProtoReader& r) { values->push_back(r.int64()); },
      [&](std::string_view packed) {
        while (!packed.empty()) {
          uint64_t value = 0;
          if (!ConsumeVarint(&packed, &value)) return false;
          values->push_back(static_cast<int64_t>(value));
        }
        return true;
      });
}

bool AppendValues(std::string_view list, std::vector<std::string>* values) {
  ProtoReader reader(list);
  while (reader.Next()) {
    if (reader.tag() == BytesField(1)) values->emplace_back(reader.bytes());
  }
  return reader.ok();
}

namespace {

using Json = nlohmann::json;

Status Unfit(std::string_view what) {
  return InvalidArgumentError(StrCat("Error while parsing JSON: ", what));
}

const Json* Field(const Json& object, const char* snake, const char* camel) {
  const auto it = object.find(snake);
  if (it != object.end()) return &*it;
  const auto other = object.find(camel);
  return other == object.end() ? nullptr : &*other;
}

Status AppendFloat(const Json& value, ProtoWriter* list) {
  double number = 0;
  if (value.is_number()) {
    number = value.get<double>();
  } else if (value == "NaN") {
    number = NAN;
  } else if (value == "Infinity" || value == "-Infinity") {
    number = value == "Infinity" ? INFINITY : -INFINITY;
  } else if (const auto parsed = value.is_string()
                                     ? ParseDouble(value.get_ref<const std::string&>())
                                     : std::nullopt) {
    number = *parsed;
  } else {
    return Unfit(StrCat("a float is wanted, not ", value.type_name()));
  }
  const auto narrow = static_cast<float>(number);
  if (std::isinf(narrow) && !std::isinf(number)) return Unfit("a float is out of range");
  list->Float(1, narrow);
  return OkStatus();
}

Status AppendInt(const Json& value, ProtoWriter* list) {
  std::optional<int64_t> number;
  if (value.is_number_unsigned()) {
    if (value.get<uint64_t>() <= INT64_MAX) number = value.get<int64_t>();
  } else if (value.is_number_integer()) {
    number = value.get<int64_t>();
  } else if (value.is_string()) {
    number = ParseInt64(value.get_ref<const std::string&>());
  } else if (value.is_number_float()) {
    const double real = value.get<double>();
    if (real == std::floor(real) && std::abs(real) < 9e18) number = static_cast<int64_t>(real);
  }
  if (!number) return Unfit("an int64 is wanted");
  list->Int64(1, *number);
  return OkStatus();
}

Status AppendBytes(const Json& value, ProtoWriter* list) {
  const auto bytes = [&]() -> std::optional<std::string> {
    if (!value.is_string()) return std::nullopt;
    const auto& text = value.get_ref<const std::string&>();
    auto decoded = DecodeBase64(text);
    return decoded ? decoded : DecodeBase64(text, Base64Alphabet::kWebSafe);
  }();
  if (!bytes) return Unfit("bytes are wanted as base64 text");
  list->Bytes(1, *bytes);
  return OkStatus();
}

// A Feature: {"floatList": {"value": [1, 2]}}. Numbers one by one, as TensorFlow writes them here.
StatusOr<std::string> EncodeFeature(const Json& feature) {
  static constexpr struct {
    const char *snake, *camel;
  } kLists[] = {
      {"bytes_list", "bytesList"}, {"float_list", "floatList"}, {"int64_list", "int64List"}};
  if (!feature.is_object()) return Unfit("a feature must be an object");
  std::string out;
  for (uint32_t kind = 0; kind < 3; ++kind) {
    const Json* list = Field(feature, kLists[kind].snake, kLists[kind].camel);
    if (list == nullptr) continue;
    if (!list->is_object()) return Unfit("a list must be an object with \"value\"");
    const auto values = list->find("value");
    std::string body;
    ProtoWriter writer(&body);
    if (values != list->end()) {
      if (!values->is_array()) return Unfit("\"value\" must be an array");
      for (const Json& value : *values) {
        RETURN_IF_ERROR(kind == 0   ? AppendBytes(value, &writer)
                        : kind == 1 ? AppendFloat(value, &writer)
                                    : AppendInt(value, &writer));
      }
    }
    ProtoWriter(&out).Bytes(kind + 1, body);
  }
  return out;
}

}  // namespace

StatusOr<std::string> ExampleFromJson(std::string_view json) {
  constexpr int kMaxDepth = 16;
  bool too_deep = false;
  const auto watch = [&](int depth, Json::parse_event_t, Json&) {
    too_deep |= depth > kMaxDepth;
    return !too_deep;
  };
  const Json root = Json::parse(json, watch, /*allow_exceptions=*/false);
  if (root.is_discarded() || too_deep) return Unfit("it is no JSON, or is nested too deep");
  if (!root.is_object()) return Unfit("an Example must be an object");
  std::string features;
  const auto field = root.find("features");
  if (field == root.end()) return features;
  const auto map = field->is_object() ? field->find("feature") : field->end();
  if (!field->is_object() || (map != field->end() && !map->is_object())) {
    return Unfit("\"features\" must be an object with \"feature\"");
  }
  if (map != field->end()) {
    for (const auto& [name, feature] : map->items()) {
      ASSIGN_OR_RETURN(const std::string encoded, EncodeFeature(feature));
      std::string entry;
      ProtoWriter writer(&entry);
      writer.Bytes(1, name);
      writer.Bytes(2, encoded);
      ProtoWriter(&features).Bytes(1, entry);
    }
  }
  std::string out;
  ProtoWriter(&out).Bytes(1, features);
  return out;
}

}  // namespace slipway
