// SPDX-License-Identifier: Apache-2.0
#include "model/wrong_inputs.h"

#include <algorithm>

#include "base/strings.h"

namespace slipway::model {
namespace {

std::string Braced(const std::vector<std::string_view>& names) {
  return StrCat("{", StrJoin(names, ","), "}");
}

}  // namespace

Status WrongInputs(const Signature& signature, std::span<const std::string_view> sent) {
  std::vector<std::string_view> given(sent.begin(), sent.end()), required, extra, missing;
  std::sort(given.begin(), given.end());
  for (const std::string_view name : given) {
    if (signature.FindInput(name) < 0) extra.push_back(name);
  }
  for (const TensorSpec& spec : signature.inputs()) {
    required.push_back(spec.name);
    const bool found = std::binary_search(given.begin(), given.end(), spec.name);
    if (!found && !signature.defaults().contains(spec.name)) missing.push_back(spec.name);
  }
  return InvalidArgumentError(StrCat("input size does not match signature: ", given.size(),
                                     "!=", required.size(), " len(", Braced(given), ") != len(",
                                     Braced(required), "). Sent extra: ", Braced(extra),
                                     ". Missing but required: ", Braced(missing), "."));
}

}  // namespace slipway::model
