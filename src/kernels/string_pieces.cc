// SPDX-License-Identifier: Apache-2.0
//
// Strings taken apart: splitting, pieces, numbers in text, base64.
#include <algorithm>

#include "base/strings.h"
#include "kernels/attrs.h"
#include "kernels/kernel_table.h"
#include "kernels/map_strings.h"
#include "kernels/parse_number.h"
#include "kernels/types.h"
#include "wire/base64.h"

namespace slipway::kernels {
namespace {

using Pieces = std::vector<std::string_view>;

// The pieces of each element of a vector as a sparse matrix.
template <typename Split>
Status SplitToSparse(KernelContext& c, std::string_view separator_name, Split&& split) {
  const Tensor& input = c.input(0);
  if (input.rank() != 1) {
    return InvalidArgumentError(
        StrCat("input must be a vector, got shape: ", input.shape().ToString()));
  }
  if (c.input(1).rank() != 0) {
    return InvalidArgumentError(
        StrCat(separator_name, " must be a scalar, got shape: ", c.input(1).shape().ToString()));
  }
  const std::string& separator = c.input(1).flat<std::string>()[0];
  Pieces pieces;
  std::vector<size_t> ends;
  int64_t widest = 0;
  for (const std::string& text : input.flat<std::string>()) {
    const size_t before = pieces.size();
    split(text, separator, &pieces);
    ends.push_back(pieces.size());
    widest = std::max(widest, static_cast<int64_t>(pieces.size() - before));
  }
  const auto count = static_cast<int64_t>(pieces.size());
  ASSIGN_OR_RETURN(Tensor * indices, c.AllocateOutput(0, Shape({count, 2})));
  int64_t* index = indices->flat<int64_t>().data();
  for (size_t row = 0, at = 0; row < ends.size(); ++row) {
    for (int64_t column = 0; at < ends[row]; ++at, ++column) {
      *index++ = static_cast<int64_t>(row);
      *index++ = column;
    }
  }
  ASSIGN_OR_RETURN(Tensor * values, c.AllocateOutput(1, Shape({count})));
  for (size_t i = 0; i < pieces.size(); ++i) values->flat<std::string>()[i] = pieces[i];
  return OutputVector<int64_t>(c, 2, {input.dim(0), widest});
}

// Every character of `separators` separates; none: every byte is a piece.
void SplitAtAny(std::string_view text, std::string_view separators, bool skip_empty, Pieces* out) {
  if (text.empty()) return;
  if (separators.empty()) {
    for (size_t i = 0; i < text.size(); ++i) out->push_back(text.substr(i, 1));
    return;
  }
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find_first_of(separators, begin), text.size());
    if (end > begin || !skip_empty) out->push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
}

StatusOr<KernelFn> BindSplit(const BindContext& c) {
  const bool skip_empty = BoolAttr(*c.node, "skip_empty", true);
  return KernelFn([skip_empty](KernelContext& ctx) {
    return SplitToSparse(ctx, "delimiter",
                         [&](std::string_view text, std::string_view separators, Pieces* out) {
                           SplitAtAny(text, separators, skip_empty, out);
                         });
  });
}

// As Python's split(): runs of blanks separate, none at the ends. After `max` cuts the rest is one
// piece, blanks at its end included; max < 0: no limit.
void SplitAtBlanks(std::string_view text, int64_t max, Pieces* out) {
  size_t begin = text.find_first_not_of(kBlanks);
  for (int64_t cuts = 0; begin != std::string_view::npos;) {
    const size_t end = std::min(text.find_first_of(kBlanks, begin), text.size());
    out->push_back(text.substr(begin, end - begin));
    begin = text.find_first_not_of(kBlanks, end);
    if (++cuts != max || max < 0) continue;
    out->push_back(begin == std::string_view::npos ? std::string_view() : text.substr(begin));
    return;
  }
}

// As Python's split(separator, max).
void SplitAt(std::string_view text, std::string_view separator, int64_t max, Pieces* out) {
  if (max == 0) {
    out->push_back(text);
  } else if (separator.empty()) {
    SplitAtBlanks(text, max, out);
  } else {
    for (int64_t cuts = 0; max < 0 || cuts < max; ++cuts) {
      const size_t end = text.find(separator);
      if (end == std::string_view::npos) break;
      out->push_back(text.substr(0, end));
      text.remove_prefix(end + separator.size());
    }
    out->push_back(text);
  }
}

StatusOr<KernelFn> BindSplitV2(const BindContext& c) {
  const int64_t max = IntAttr(*c.node, "maxsplit", -1);
  return KernelFn([max](KernelContext& ctx) {
    return SplitToSparse(ctx, "sep",
                         [&](std::string_view text, std::string_view separator, Pieces* out) {
                           SplitAt(text, separator, max, out);
                         });
  });
}

bool IsContinuation(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

// Where each character of UTF-8 text begins, and its end. Bytes that continue no character begin
// none.
void CharacterStarts(std::string_view text, std::vector<size_t>* starts) {
  starts->clear();
  for (size_t i = 0; i < text.size(); ++i) {
    if (!IsContinuation(text[i])) starts->push_back(i);
  }
  starts->push_back(text.size());
}

class Substring {
 public:
  explicit Substring(bool characters) : characters_(characters) {}

  // False if `pos` is outside the text.
  bool Take(const std::string& text, int64_t pos, int64_t length, std::string* out) {
    if (characters_) CharacterStarts(text, &starts_);
    const auto size = static_cast<int64_t>(characters_ ? starts_.size() - 1 : text.size());
    if (pos < 0) pos += size;
    if (pos < 0 || pos > size) return false;
    // A negative length is everything in bytes and nothing in characters.
    int64_t count = length < 0 && !characters_ ? size : std::max<int64_t>(length, 0);
    count = std::min(count, size - pos);
    const auto at = [&](int64_t i) {
      const auto k = static_cast<size_t>(i);
      return characters_ ? starts_[k] : k;
    };
    out->assign(text, at(pos), at(pos + count) - at(pos));
    return true;
  }
  Status OutOfRange(const std::string& text, int64_t pos, size_t i) const {
    const std::string shown = characters_ ? "" : StrCat(" b'", text, "'");
    return InvalidArgumentError(
        StrCat("pos ", pos, " out of range for string", shown, " at index ", i));
  }

 private:
  const bool characters_;
  std::vector<size_t> starts_;
};

// Shape of text and pos together, of rank 2 at most, and the strides over both.
struct Pairing {
  Shape shape;
  IntVec text_strides, pos_strides;
};
StatusOr<Pairing> PairUp(const Shape& text, const Shape& pos) {
  Pairing pair;
  const int rank = std::max(text.rank(), pos.rank());
  const auto dim = [&](const Shape& shape, int d) {
    const int own = d - (rank - shape.rank());
    return own < 0 ? int64_t{1} : shape.dim(own);
  };
  IntVec dims(static_cast<size_t>(rank), 1);
  for (int d = 0; d < rank; ++d) {
    const int64_t a = dim(text, d), b = dim(pos, d);
    if (a != b && a != 1 && b != 1) {
      return InvalidArgumentError(
          StrCat("Incompatible shapes: ", text.ToString(), " vs. ", pos.ToString()));
    }
    dims[static_cast<size_t>(d)] = a == 1 ? b : a;
  }
  if (rank > 2) {
    return UnimplementedError(StrCat("Substr broadcast not implemented for ", rank, " dimensions"));
  }
  ASSIGN_OR_RETURN(pair.shape, Shape::FromDims(dims.span()));
  pair.text_strides = pair.pos_strides = IntVec(static_cast<size_t>(rank), 0);
  int64_t text_stride = 1, pos_stride = 1;
  for (int d = rank - 1; d >= 0; --d) {
    const auto k = static_cast<size_t>(d);
    pair.text_strides[k] = dim(text, d) == 1 ? 0 : text_stride;
    pair.pos_strides[k] = dim(pos, d) == 1 ? 0 : pos_stride;
    text_stride *= dim(text, d);
    pos_stride *= dim(pos, d);
  }
  return pair;
}

template <typename T>
Status RunSubstr(KernelContext& c, bool characters) {
  const Tensor &text = c.input(0), &pos = c.input(1), &length = c.input(2);
  if (!(pos.shape() == length.shape())) {
    return InvalidArgumentError(StrCat("pos and len should have the same shape, got: ",
                                       pos.shape().ToString(), " vs. ", length.shape().ToString()));
  }
  Substring substring(characters);
  const auto texts = text.flat<std::string>();
  const bool one = pos.rank() == 0;
  if (one || text.shape() == pos.shape()) {
    ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, text.shape()));
    for (size_t i = 0; i < texts.size(); ++i) {
      const T p = pos.flat<T>()[one ? 0 : i], n = length.flat<T>()[one ? 0 : i];
      if (!substring.Take(texts[i], p, n, &out->flat<std::string>()[i])) {
        return substring.OutOfRange(texts[i], p, i);
      }
    }
    return OkStatus();
  }
  ASSIGN_OR_RETURN(const Pairing pair, PairUp(text.shape(), pos.shape()));
  ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, pair.shape));
  const int rank = pair.shape.rank();
  const int64_t columns = rank == 0 ? 1 : pair.shape.dim(rank - 1);
  for (int64_t i = 0; i < pair.shape.num_elements(); ++i) {
    const int64_t row = i / columns, column = i % columns;
    const auto at = [&](const IntVec& strides) {
      const int64_t outer = rank == 2 ? row * strides[0] : 0;
      return static_cast<size_t>(outer + column * strides[static_cast<size_t>(rank - 1)]);
    };
    const std::string& from = texts[at(pair.text_strides)];
    const size_t k = at(pair.pos_strides);
    std::string* to = &out->flat<std::string>()[static_cast<size_t>(i)];
    if (!substring.Take(from, pos.flat<T>()[k], length.flat<T>()[k], to)) {
      return substring.OutOfRange(from, pos.flat<T>()[k], static_cast<size_t>(i));
    }
  }
  return OkStatus();
}

StatusOr<KernelFn> BindSubstr(const BindContext& c) {
  const bool characters = AttrOr<std::string>(*c.node, "unit", "BYTE") == "UTF8_CHAR";
  const bool wide = c.input_dtype(1) == DType::kInt64;
  return KernelFn([characters, wide](KernelContext& ctx) {
    return wide ? RunSubstr<int64_t>(ctx, characters) : RunSubstr<int32_t>(ctx, characters);
  });
}

template <typename T>
Status RunToNumber(KernelContext& c) {
  return TryMapStrings<T>(c, [](const std::string& text, T* value) {
    if (ParseNumber(text, value)) return OkStatus();
    return InvalidArgumentError(
        StrCat("StringToNumberOp could not correctly convert string: ", text));
  });
}

using ParsedNumbers = TypeList<float, double, int32_t, int64_t, uint32_t, uint64_t>;

StatusOr<KernelFn> BindToNumber(const BindContext& c) {
  return SwitchType<KernelFn>(ParsedNumbers{}, c.node->dtype(0),
                              []<typename T>() { return KernelFn(RunToNumber<T>); });
}

StatusOr<KernelFn> BindEncode(const BindContext& c) {
  const bool pad = BoolAttr(*c.node, "pad");
  return KernelFn([pad](KernelContext& ctx) {
    return MapStrings<std::string>(ctx, [pad](const std::string& bytes) {
      std::string text;
      AppendBase64(bytes, &text, Base64Alphabet::kWebSafe);
      while (!pad && text.ends_with('=')) text.pop_back();
      return text;
    });
  });
}

Status RunDecode(KernelContext& c) {
  return TryMapStrings<std::string>(c, [](const std::string& text, std::string* bytes) {
    if (text.size() % 4 == 1) {
      return InvalidArgumentError("Base64 string length cannot be 1 modulo 4.");
    }
    auto decoded = DecodeBase64(text, Base64Alphabet::kWebSafe);
    if (!decoded) {
      return InvalidArgumentError(
          StrCat("Invalid character found in base64. The text is ", Quoted(text)));
    }
    *bytes = *std::move(decoded);
    return OkStatus();
  });
}

}  // namespace

std::span<const KernelDef> StringPieceKernels() {
  static const std::vector<KernelDef> table = MakeKernels({
      {"StringSplit", BindSplit},
      {"StringSplitV2", BindSplitV2},
      {"Substr", BindSubstr, IndexTypes()},
      {"StringToNumber", BindToNumber, ParsedNumbers::DTypes(), "out_type"},
      {"EncodeBase64", BindEncode},
      {"DecodeBase64", BindRun<RunDecode>},
  });
  return table;
}

}  // namespace slipway::kernels
