// SPDX-License-Identifier: Apache-2.0
//
// Fractional pooling: windows of two sizes in an order drawn from the op's generator, number for
// number as TensorFlow draws it.
#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>

#include "kernels/attrs.h"
#include "kernels/checks.h"
#include "kernels/kernel_table.h"
#include "kernels/random_sources.h"
#include "kernels/types.h"

namespace slipway::kernels {
namespace {

using FractionalTypes = TypeList<float, double, int32_t, int64_t>;
using Sequence = std::vector<int64_t>;  // where windows begin, and the end

struct FractionalSpec {
  float height_ratio = 1, width_ratio = 1;
  bool max = true, pseudo_random = false, overlapping = false, deterministic = false;
};

// A number in [0, n) as TensorFlow's SimplePhilox draws it.
uint32_t Below(WordStream& words, uint32_t n) {
  if ((n & (n - 1)) == 0) return words.Next() & (n - 1);
  const uint32_t clip = 0xffffffffu / n * n;
  uint32_t word = words.Next();
  while (word >= clip) word = words.Next();
  return word % n;
}

Sequence PseudoRandomSequence(int64_t input, int64_t output, GeneratorResource& generator) {
  const double alpha = static_cast<double>(input) / static_cast<double>(output);
  const int64_t k = input / output;
  const double most =
      std::min(static_cast<double>(k + 2) / alpha - 1,
               static_cast<double>(input + 1 - k) / alpha - static_cast<double>(output - 1));
  WordStream words(generator.Reserve(1));
  const uint32_t low = words.Next(), high = words.Next();
  const double u = UniformDouble(low, high) * most;
  Sequence starts(static_cast<size_t>(output) + 1);
  for (size_t i = 1; i + 1 < starts.size(); ++i) {
    starts[i] = static_cast<int64_t>(std::ceil(alpha * (static_cast<double>(i) + u))) - 1;
  }
  starts.back() = input;
  return starts;
}

Sequence RandomSequence(int64_t input, int64_t output, GeneratorResource& generator) {
  Sequence sizes(static_cast<size_t>(output), input / output);
  const auto larger = static_cast<size_t>(input % output);
  for (size_t i = 0; i < larger; ++i) ++sizes[i];
  if (larger > 0) {
    WordStream words(generator.Reserve((output + 3) / 4));
    for (size_t i = 0; i + 1 < sizes.size(); ++i) {
      std::swap(sizes[i], sizes[i + Below(words, static_cast<uint32_t>(sizes.size() - i))]);
    }
  }
  Sequence starts = {0};
  for (int64_t size : sizes) starts.push_back(starts.back() + size);
  return starts;
}

Sequence Draw(const FractionalSpec& spec, int64_t input, int64_t output,
              GeneratorResource& generator) {
  if (output == 0) return {0};
  return spec.pseudo_random ? PseudoRandomSequence(input, output, generator)
                            : RandomSequence(input, output, generator);
}

struct Sequences {
  Sequence rows, columns;
};
// The sequences of an op that draws once, shared by all plans.
class FixedSequences : public Resource {
 public:
  std::string DebugString() const override { return "pooling sequences"; }
  template <typename Fn>
  Sequences Get(Fn&& draw) {
    std::lock_guard lock(mutex_);
    if (sequences_.rows.empty()) sequences_ = draw();
    return sequences_;
  }

 private:
  std::mutex mutex_;
  Sequences sequences_;
};

template <typename T>
void PoolImages(const FractionalSpec& spec, const Sequences& s, const Tensor& x, Tensor* y) {
  const int64_t height = x.dim(1), width = x.dim(2), channels = x.dim(3);
  const T* image = x.flat<T>().data();
  T* to = y->flat<T>().data();
  const auto end_of = [&](const Sequence& starts, int64_t i, int64_t size) {
    const int64_t end = starts[static_cast<size_t>(i) + 1];
    return std::min(spec.overlapping ? end + 1 : end, size);
  };
  for (int64_t n = 0; n < x.dim(0); ++n, image += height * width * channels) {
    for (int64_t i = 0; i < y->dim(1); ++i) {
      for (int64_t j = 0; j < y->dim(2); ++j) {
        const int64_t top = s.rows[static_cast<size_t>(i)], bottom = end_of(s.rows, i, height);
        const int64_t left = s.columns[static_cast<size_t>(j)], right = end_of(s.columns, j, width);
        for (int64_t c = 0; c < channels; ++c) {
          T value = spec.max ? std::numeric_limits<T>::lowest() : T{0};
          for (int64_t r = top; r < bottom; ++r) {
            for (int64_t k = left; k < right; ++k) {
              const T v = image[(r * width + k) * channels + c];
              value = spec.max ? (value < v ? v : value) : WrapAdd(value, v);
            }
          }
          const int64_t count = std::max<int64_t>(1, (bottom - top) * (right - left));
          *to++ = spec.max ? value : static_cast<T>(value / static_cast<T>(count));
        }
      }
    }
  }
}

Status RunFractional(KernelContext& ctx, const FractionalSpec& spec, GeneratorResource& generator,
                     FixedSequences* fixed) {
  const Tensor& x = ctx.input(0);
  RETURN_IF_ERROR(CheckRank(x, 4, "tensor_in"));
  const auto pooled = [](int64_t size, float ratio) {
    return static_cast<int64_t>(std::floor(static_cast<float>(size) / ratio));
  };
  const int64_t height = pooled(x.dim(1), spec.height_ratio);
  const int64_t width = pooled(x.dim(2), spec.width_ratio);
  if (height < 1 || width < 1 || height > x.dim(1) || width > x.dim(2) ||
      std::max(height, width) > std::numeric_limits<int32_t>::max()) {
    return InvalidArgumentError(StrCat("Fractional pooling of ", x.shape().ToString(), " to ",
                                       height, " rows and ", width, " columns"));
  }
  const auto draw = [&] {
    Sequences s;
    s.rows = Draw(spec, x.dim(1), height, generator);
    s.columns = Draw(spec, x.dim(2), width, generator);
    return s;
  };
  const Sequences s = fixed == nullptr ? draw() : fixed->Get(draw);
  if (s.rows.back() != x.dim(1) || s.columns.back() != x.dim(2)) {
    return InvalidArgumentError(StrCat("Deterministic fractional pooling began with images of ",
                                       s.rows.back(), "x", s.columns.back(), ", now they have ",
                                       x.dim(1), "x", x.dim(2)));
  }
  ASSIGN_OR_RETURN(Tensor * y, ctx.AllocateOutput(0, Shape({x.dim(0), height, width, x.dim(3)})));
  for (int i = 1; i <= 2; ++i) {
    const Sequence& starts = i == 1 ? s.rows : s.columns;
    ASSIGN_OR_RETURN(Tensor * out,
                     ctx.AllocateOutput(i, Shape({static_cast<int64_t>(starts.size())})));
    std::copy(starts.begin(), starts.end(), out->flat<int64_t>().begin());
  }
  SwitchType<int>(FractionalTypes{}, x.dtype(), [&]<typename T>() {
    PoolImages<T>(spec, s, x, y);
    return 0;
  });
  return OkStatus();
}

StatusOr<KernelFn> BindFractional(const BindContext& bind) {
  const ir::Node& node = *bind.node;
  const auto ratios = AttrOr<std::vector<float>>(node, "pooling_ratio", {});
  if (ratios.size() != 4) {
    return InvalidArgumentError("pooling_ratio field must specify 4 dimensions");
  }
  if (ratios[0] != 1 || ratios[3] != 1) {
    return UnimplementedError(
        "Fractional pooling is not yet supported on the batch nor channel dimension.");
  }
  FractionalSpec spec = {ratios[1],
                         ratios[2],
                         node.op() == "FractionalMaxPool",
                         BoolAttr(node, "pseudo_random"),
                         BoolAttr(node, "overlapping"),
                         BoolAttr(node, "deterministic")};
  if (!(spec.height_ratio >= 1) || !(spec.width_ratio >= 1)) {
    return InvalidArgumentError("pooling_ratio cannot be smaller than 1");
  }
  ASSIGN_OR_RETURN(auto generator, GeneratorOf(bind));
  std::shared_ptr<FixedSequences> fixed;
  if (spec.deterministic) {
    const auto make = [] { return std::make_shared<FixedSequences>(); };
    if (bind.resources == nullptr) {
      fixed = make();
    } else {
      ASSIGN_OR_RETURN(fixed, bind.resources->FindOrCreate<FixedSequences>(
                                  StrCat("pooling/", node.name()), make));
    }
  }
  return KernelFn(
      [=](KernelContext& ctx) { return RunFractional(ctx, spec, *generator, fixed.get()); });
}

}  // namespace

std::span<const KernelDef> FractionalPoolKernels() {
  static const std::vector<KernelDef> table = MakeKernels({
      {"FractionalAvgPool", BindFractional, FractionalTypes::DTypes()},
      {"FractionalMaxPool", BindFractional, FractionalTypes::DTypes()},
  });
  return table;
}

}  // namespace slipway::kernels
