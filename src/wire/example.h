// SPDX-License-Identifier: Apache-2.0
//
// tensorflow.Example and SequenceExample in their wire form. Nothing is copied but values: views
// point into the bytes given, and memory is bounded by their number.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "slipway/dtype.h"
#include "slipway/status.h"

namespace slipway {

// A Feature: a list of one kind, still encoded.
struct FeatureView {
  DType dtype = DType::kInvalid;  // kString, kFloat or kInt64; kInvalid: no list is set
  std::string_view list;
};

struct NamedFeature {
  std::string_view name;
  std::string_view bytes;  // a Feature, or a FeatureList
};

// The features of an Example. A name that stands twice is given twice: the last one counts.
// INVALID_ARGUMENT: malformed.
Status ReadExample(std::string_view example, std::vector<NamedFeature>* features);
// The context and the feature lists of a SequenceExample.
Status ReadSequenceExample(std::string_view example, std::vector<NamedFeature>* context,
                           std::vector<NamedFeature>* lists);
// The Features of a FeatureList, in order.
Status ReadFeatureList(std::string_view list, std::vector<std::string_view>* features);
// INVALID_ARGUMENT: malformed.
StatusOr<FeatureView> ReadFeature(std::string_view feature);

// The values of a list of that kind, packed or not, appended. False: malformed.
bool AppendValues(std::string_view list, std::vector<float>* values);
bool AppendValues(std::string_view list, std::vector<int64_t>* values);
bool AppendValues(std::string_view list, std::vector<std::string>* values);

// The binary form of an Example in protobuf's JSON form.
// INVALID_ARGUMENT says what does not fit.
StatusOr<std::string> ExampleFromJson(std::string_view json);

}  // namespace slipway
