// SPDX-License-Identifier: Apache-2.0
//
// tensorflow.TensorProto and TensorShapeProto in their wire form, straight from and into a
// tensor's memory. Every dtype but DT_RESOURCE and DT_VARIANT (UNIMPLEMENTED).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "slipway/shape.h"
#include "slipway/status.h"
#include "slipway/tensor.h"

namespace slipway {

struct TensorDecodeOptions {
  // Largest memory of one decoded tensor. A few bytes can declare a huge shape filled with one
  // value, so the size of the message bounds nothing.
  uint64_t max_bytes = uint64_t{1} << 31;
  // Largest memory that is filled beyond what the message itself can hold values for: for messages
  // from strangers, who pay for a shape with a few bytes.
  uint64_t max_splat_bytes = UINT64_MAX;
  // Of the tensors; the process's if null.
  Allocator* allocator = nullptr;
};

// The tensor in `bytes`. Values may stand in `tensor_content` or in the typed fields, packed or
// not; fewer values than elements repeat the last one, none at all mean zeros (empty strings).
// half and bfloat16 are bit patterns in half_val.
// INVALID_ARGUMENT: malformed, unknown dtype, negative or too large dimension, unknown rank, more
// values than elements, content of the wrong size. RESOURCE_EXHAUSTED: over options.max_bytes or
// options.max_splat_bytes.
StatusOr<Tensor> DecodeTensorProto(std::string_view bytes, const TensorDecodeOptions& options = {});

// What a tensor of `decoded` bytes takes of max_splat_bytes: nothing while a message of `encoded`
// bytes could hold a value for each element.
uint64_t TensorSplatBytes(uint64_t decoded, uint64_t encoded);

enum class TensorEncoding {
  kTyped,    // float_val, int_val…: what TensorFlow Serving answers with by default
  kContent,  // tensor_content (strings still in string_val): smallest and fastest
};

// Bytes that AppendTensorProto will append.
size_t TensorProtoSize(const Tensor& tensor, TensorEncoding encoding);
// Appends the message (without tag or length). UNIMPLEMENTED for resources and variants.
Status AppendTensorProto(const Tensor& tensor, TensorEncoding encoding, std::string* out);

// A TensorShapeProto; a dimension of -1 is unknown, other negative ones are INVALID_ARGUMENT, and
// so are more than Shape::kMaxRank dimensions.
StatusOr<PartialShape> DecodeShapeProto(std::string_view bytes);
size_t ShapeProtoSize(const PartialShape& shape);
void AppendShapeProto(const PartialShape& shape, std::string* out);

}  // namespace slipway
