// SPDX-License-Identifier: Apache-2.0
#include "wire/model_spec.h"

#include "base/strings.h"
#include "wire/coding.h"

namespace slipway {

Status CheckUtf8Name(std::string_view what, std::string_view name) {
  if (IsValidUtf8(name)) return OkStatus();
  return InvalidArgumentError(StrCat("The ", what, " ", Quoted(name), " is not UTF-8"));
}

Status DecodeModelSpec(std::string_view bytes, ModelSpecView* spec) {
  ProtoReader reader(bytes);
  while (reader.Next()) {
    switch (reader.tag()) {
      case BytesField(1):
        spec->name = reader.bytes();
        break;
      case BytesField(2): {
        int64_t version = 0;
        ProtoReader wrapper(reader.bytes());
        while (wrapper.Next()) {
          if (wrapper.tag() == VarintField(1)) version = wrapper.int64();
        }
        RETURN_IF_ERROR(wrapper.status("Int64Value"));
        spec->version = version;
        spec->version_label = {};  // the two are one choice; the last one counts
        break;
      }
      case BytesField(3):
        spec->signature_name = reader.bytes();
        break;
      case BytesField(4):
        spec->version_label = reader.bytes();
        spec->version.reset();
        break;
      default:
        break;
    }
  }
  RETURN_IF_ERROR(reader.status("ModelSpec"));
  RETURN_IF_ERROR(CheckUtf8Name("model name", spec->name));
  RETURN_IF_ERROR(CheckUtf8Name("signature name", spec->signature_name));
  return CheckUtf8Name("version label", spec->version_label);
}

std::string EncodeModelSpec(const ModelSpecView& spec) {
  std::string out;
  ProtoWriter writer(&out);
  if (!spec.name.empty()) writer.Bytes(1, spec.name);
  if (spec.version) {
    const size_t wrapper = writer.BeginMessage(2);
    if (*spec.version != 0) writer.Int64(1, *spec.version);
    writer.EndMessage(wrapper);
  }
  if (!spec.signature_name.empty()) writer.Bytes(3, spec.signature_name);
  if (!spec.version && !spec.version_label.empty()) writer.Bytes(4, spec.version_label);
  return out;
}

}  // namespace slipway
