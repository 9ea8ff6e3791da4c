// SPDX-License-Identifier: Apache-2.0
//
// Random numbers from Philox, bit for bit those of TensorFlow: stateless from a seed or from key
// and counter, and stateful from a generator that lives with the model.
#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <numbers>
#include <optional>

#include "kernels/attrs.h"
#include "kernels/checks.h"
#include "kernels/kernel_table.h"
#include "kernels/random_sources.h"
#include "kernels/strided_copy.h"
#include "kernels/types.h"

namespace slipway::kernels {
namespace {

void BoxMuller(uint32_t a, uint32_t b, float* f0, float* f1) {
  const float u1 = std::max(UniformFloat(a), 1.0e-7f);
  const float angle = static_cast<float>(2.0 * std::numbers::pi) * UniformFloat(b);
  const float radius = std::sqrt(-2.0f * std::log(u1));
  *f0 = std::sin(angle) * radius;
  *f1 = std::cos(angle) * radius;
}
void BoxMuller(uint32_t a, uint32_t b, uint32_t c, uint32_t d, double* f0, double* f1) {
  const double u1 = std::max(UniformDouble(a, b), 1.0e-7);
  const double angle = 2.0 * std::numbers::pi * UniformDouble(c, d);
  const double radius = std::sqrt(-2.0 * std::log(u1));
  *f0 = std::sin(angle) * radius;
  *f1 = std::cos(angle) * radius;
}

// How many values one block of four words gives.
template <typename T>
constexpr int64_t ValuesPerBlock() {
  return sizeof(T) == 8 ? 2 : 4;
}

template <typename T>
void UniformBlock(const Philox::Block& w, T* out) {
  if constexpr (std::is_same_v<T, double>) {
    out[0] = UniformDouble(w[0], w[1]);
    out[1] = UniformDouble(w[2], w[3]);
  } else {
    for (size_t i = 0; i < 4; ++i) {
      if constexpr (std::is_same_v<T, float>) out[i] = UniformFloat(w[i]);
      // One less than a number of [1, 2) that has the word's low bits as its mantissa.
      if constexpr (std::is_same_v<T, Half>) {
        Half one_to_two;
        one_to_two.bits = static_cast<uint16_t>((15u << 10) | (w[i] & 0x3ffu));
        out[i] = Half(static_cast<float>(one_to_two) - 1.0f);
      }
      if constexpr (std::is_same_v<T, BFloat16>) {
        BFloat16 one_to_two;
        one_to_two.bits = static_cast<uint16_t>((127u << 7) | (w[i] & 0x7fu));
        out[i] = BFloat16(static_cast<float>(one_to_two) - 1.0f);
      }
    }
  }
}

template <typename T>
void NormalBlock(const Philox::Block& w, T* out) {
  if constexpr (std::is_same_v<T, double>) {
    BoxMuller(w[0], w[1], w[2], w[3], &out[0], &out[1]);
  } else {
    float f[4];
    BoxMuller(w[0], w[1], &f[0], &f[1]);
    BoxMuller(w[2], w[3], &f[2], &f[3]);
    for (int i = 0; i < 4; ++i) out[i] = T(f[i]);
  }
}

// Values beyond two standard deviations are drawn again.
template <typename T>
void TruncatedBlock(WordStream& words, T* out) {
  constexpr int64_t kWanted = ValuesPerBlock<T>();
  int64_t n = 0;
  const auto keep = [&](auto value) {
    if (n < kWanted && std::abs(value) < 2) out[n++] = T(value);
  };
  while (n < kWanted) {
    const uint32_t a = words.Next(), b = words.Next();
    if constexpr (std::is_same_v<T, double>) {
      const uint32_t c = words.Next(), d = words.Next();
      double f0, f1;
      BoxMuller(a, b, c, d, &f0, &f1);
      keep(f0);
      keep(f1);
    } else {
      float f0, f1;
      BoxMuller(a, b, &f0, &f1);
      keep(f0);
      keep(f1);
    }
  }
}

// Output in groups of one block; group g begins `skip` blocks after group g - 1, so that any part
// can be made on its own.
template <typename T, typename Fill>
void FillGroups(ThreadPool& pool, Philox generator, int64_t skip, T* out, int64_t n, Fill fill) {
  constexpr int64_t kGroup = ValuesPerBlock<T>();
  pool.ParallelFor((n + kGroup - 1) / kGroup, 4096, [&](int64_t begin, int64_t end) {
    for (int64_t g = begin; g < end; ++g) {
      Philox own = generator;
      own.Skip(static_cast<uint64_t>(g * skip));
      T values[kGroup];
      fill(own, values);
      std::copy_n(values, std::min(kGroup, n - g * kGroup), out + g * kGroup);
    }
  });
}

enum class Kind : uint8_t { kUniform, kNormal, kTruncated };

template <typename T>
void FillFloats(Kind kind, ThreadPool& pool, Philox generator, Tensor* out) {
  T* to = out->flat<T>().data();
  const int64_t n = out->num_elements();
  switch (kind) {
    case Kind::kUniform:
      return FillGroups(pool, generator, 1, to, n,
                        [](Philox& g, T* v) { UniformBlock<T>(g.Next(), v); });
    case Kind::kNormal:
      return FillGroups(pool, generator, 1, to, n,
                        [](Philox& g, T* v) { NormalBlock<T>(g.Next(), v); });
    case Kind::kTruncated:
      return FillGroups(pool, generator, ValuesPerBlock<T>() * kReservedPerValue / 4, to, n,
                        [](Philox& g, T* v) {
                          WordStream words(g);
                          TruncatedBlock<T>(words, v);
                        });
  }
}

Status FillRandom(Kind kind, KernelContext& c, Philox generator, Tensor* out) {
  return SwitchType<Status>(Floats{}, out->dtype(), [&]<typename T>() {
    FillFloats<T>(kind, c.intra_op(), generator, out);
    return OkStatus();
  });
}

// Integers: the raw bits, or low + bits % range.
template <typename T>
void FillInts(ThreadPool& pool, Philox generator, std::optional<std::pair<T, T>> bounds,
              Tensor* out) {
  using U = std::make_unsigned_t<T>;
  FillGroups(pool, generator, 1, out->flat<T>().data(), out->num_elements(), [&](Philox& g, T* v) {
    const Philox::Block w = g.Next();
    for (int64_t i = 0; i < ValuesPerBlock<T>(); ++i) {
      U bits;
      if constexpr (sizeof(T) == 8) {
        bits = w[static_cast<size_t>(2 * i)] | (uint64_t{w[static_cast<size_t>(2 * i + 1)]} << 32);
      } else {
        bits = w[static_cast<size_t>(i)];
      }
      if (bounds) {
        const U low = static_cast<U>(bounds->first);
        bits = low + bits % (static_cast<U>(bounds->second) - low);
      }
      v[i] = static_cast<T>(bits);
    }
  });
}

using IntTypes = TypeList<int32_t, int64_t, uint32_t, uint64_t>;

Status FillRandomInts(KernelContext& c, Philox generator, int min_input, Tensor* out) {
  return SwitchType<Status>(IntTypes{}, out->dtype(), [&]<typename T>() -> Status {
    std::optional<std::pair<T, T>> bounds;
    if (min_input >= 0) {
      RETURN_IF_ERROR(CheckScalar(c.input(min_input), "minval"));
      RETURN_IF_ERROR(CheckScalar(c.input(min_input + 1), "maxval"));
      bounds = {c.input(min_input).scalar<T>(), c.input(min_input + 1).scalar<T>()};
      if (bounds->first >= bounds->second && out->num_elements() > 0) {
        return InvalidArgumentError(
            StrCat("Need minval < maxval, got ", bounds->first, " >= ", bounds->second));
      }
    }
    if (out->num_elements() > 0) FillInts<T>(c.intra_op(), generator, bounds, out);
    return OkStatus();
  });
}

}  // namespace

StatusOr<Philox> FromSeed(const Tensor& seed) {
  if (seed.rank() != 1 || seed.dim(0) != 2) {
    return InvalidArgumentError(StrCat("seed must have shape [2], not ", seed.shape().ToString()));
  }
  std::array<uint64_t, 2> s;
  for (size_t i = 0; i < 2; ++i) {
    if (seed.dtype() == DType::kInt32) {
      s[i] = static_cast<uint64_t>(int64_t{seed.flat<int32_t>()[i]});
    } else if (seed.dtype() == DType::kInt64) {
      s[i] = static_cast<uint64_t>(seed.flat<int64_t>()[i]);
    } else if (seed.dtype() == DType::kUInt32) {
      s[i] = seed.flat<uint32_t>()[i];
    } else if (seed.dtype() == DType::kUInt64) {
      s[i] = seed.flat<uint64_t>()[i];
    } else {
      return InvalidArgumentError(StrCat("seed of ", DTypeName(seed.dtype())));
    }
  }
  const Philox::Block counter = {static_cast<uint32_t>(s[0]), static_cast<uint32_t>(s[0] >> 32),
                                 static_cast<uint32_t>(s[1]), static_cast<uint32_t>(s[1] >> 32)};
  const Philox::Block mix = PhiloxBlock(counter, {0x3ec8f720u, 0x02461e29u});
  return Philox(Philox::Block{0, 0, mix[2], mix[3]}, Philox::Key{mix[0], mix[1]});
}

// Philox is algorithm 1; 3 lets the device choose, which on a CPU is Philox.
StatusOr<Philox> FromKeyCounter(const KernelContext& c, int first) {
  const Tensor& key = c.input(first);
  const Tensor& counter = c.input(first + 1);
  ASSIGN_OR_RETURN(int64_t algorithm, ReadInt(c.input(first + 2), "alg"));
  if (algorithm != 1 && algorithm != 3) {
    return UnimplementedError(StrCat("Random algorithm ", algorithm, "; Philox is 1"));
  }
  if (key.rank() != 1 || key.dim(0) != 1 || counter.rank() != 1 || counter.dim(0) < 2) {
    return InvalidArgumentError(
        StrCat("key must have shape [1] and counter at least 2 elements, "
               "not ",
               key.shape().ToString(), " and ", counter.shape().ToString()));
  }
  const uint64_t k = key.flat<uint64_t>()[0];
  const uint64_t c0 = counter.flat<uint64_t>()[0], c1 = counter.flat<uint64_t>()[1];
  return Philox(Philox::Block{static_cast<uint32_t>(c0), static_cast<uint32_t>(c0 >> 32),
                              static_cast<uint32_t>(c1), static_cast<uint32_t>(c1 >> 32)},
                Philox::Key{static_cast<uint32_t>(k), static_cast<uint32_t>(k >> 32)});
}

namespace {

Kind KindOf(const std::string& op) {
  if (op.find("Truncated") != std::string::npos) return Kind::kTruncated;
  return op.find("Normal") != std::string::npos ? Kind::kNormal : Kind::kUniform;
}

StatusOr<KernelFn> BindStateless(const BindContext& bind) {
  const Kind kind = KindOf(bind.node->op());
  const bool v2 = bind.node->op().ends_with("V2");
  const bool ints = bind.node->op().find("Int") != std::string::npos;
  const bool full = bind.node->op().find("FullInt") != std::string::npos;
  return KernelFn([=](KernelContext& c) -> Status {
    ASSIGN_OR_RETURN(Shape shape, ReadShape(c.input(0), "shape"));
    ASSIGN_OR_RETURN(Philox generator, v2 ? FromKeyCounter(c, 1) : FromSeed(c.input(1)));
    ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, shape));
    if (!ints) return FillRandom(kind, c, generator, out);
    return FillRandomInts(c, generator, full ? -1 : v2 ? 4 : 2, out);
  });
}

StatusOr<KernelFn> BindKeyCounter(const BindContext& bind) {
  const bool with_algorithm = bind.node->op().ends_with("Alg");
  return KernelFn([with_algorithm](KernelContext& c) -> Status {
    ASSIGN_OR_RETURN(Philox generator, FromSeed(c.input(0)));
    ASSIGN_OR_RETURN(Tensor * key, c.AllocateOutput(0, Shape({1})));
    ASSIGN_OR_RETURN(Tensor * counter, c.AllocateOutput(1, Shape({2})));
    const auto join = [](uint32_t low, uint32_t high) { return low | (uint64_t{high} << 32); };
    key->flat<uint64_t>()[0] = join(generator.key()[0], generator.key()[1]);
    counter->flat<uint64_t>()[0] = join(generator.counter()[0], generator.counter()[1]);
    counter->flat<uint64_t>()[1] = join(generator.counter()[2], generator.counter()[3]);
    if (!with_algorithm) return OkStatus();
    ASSIGN_OR_RETURN(Tensor * algorithm, c.AllocateOutput(2, Shape()));
    algorithm->flat<int32_t>()[0] = 1;
    return OkStatus();
  });
}

Status RunGetAlg(KernelContext& c) {
  ASSIGN_OR_RETURN(Tensor * algorithm, c.AllocateOutput(0, Shape()));
  algorithm->flat<int32_t>()[0] = 1;
  return OkStatus();
}

}  // namespace

StatusOr<std::shared_ptr<GeneratorResource>> GeneratorOf(const BindContext& bind) {
  auto seed = static_cast<uint64_t>(IntAttr(*bind.node, "seed"));
  auto seed2 = static_cast<uint64_t>(IntAttr(*bind.node, "seed2"));
  const std::string name = StrCat("random/", bind.node->name(), "/", seed, "/", seed2);
  if (seed == 0 && seed2 == 0) {
    seed = RandomSeed();
    seed2 = RandomSeed();
  }
  const auto make = [&] { return std::make_shared<GeneratorResource>(seed, seed2); };
  if (bind.resources == nullptr) return make();
  return bind.resources->FindOrCreate<GeneratorResource>(name, make);
}

namespace {

StatusOr<KernelFn> BindStateful(const BindContext& bind) {
  ASSIGN_OR_RETURN(auto generator, GeneratorOf(bind));
  const std::string& op = bind.node->op();
  const Kind kind = op == "TruncatedNormal"        ? Kind::kTruncated
                    : op == "RandomStandardNormal" ? Kind::kNormal
                                                   : Kind::kUniform;
  const bool ints = op == "RandomUniformInt";
  return KernelFn([=](KernelContext& c) -> Status {
    ASSIGN_OR_RETURN(Shape shape, ReadShape(c.input(0), "shape"));
    ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, shape));
    if (out->num_elements() == 0) return OkStatus();
    const Philox mine = generator->Reserve(out->num_elements() * kReservedPerValue);
    return ints ? FillRandomInts(c, mine, 1, out) : FillRandom(kind, c, mine, out);
  });
}

}  // namespace

Status ShuffleRows(KernelContext& c, WordStream words) {
  const Tensor& x = c.input(0);
  const int64_t rows = x.rank() == 0 ? 1 : x.dim(0);
  ASSIGN_OR_RETURN(Tensor * y, c.AllocateOutput(0, x.shape()));
  if (x.num_elements() == 0) return OkStatus();
  if (rows > std::numeric_limits<int32_t>::max()) {
    return InvalidArgumentError(StrCat("Shuffle of ", rows, " rows"));
  }
  std::vector<int32_t> order(static_cast<size_t>(rows));
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int32_t>(i);
  for (size_t i = 0; i + 1 < order.size(); ++i) {
    std::swap(order[i], order[i + words.Next() % (order.size() - i)]);
  }
  const int64_t run = x.num_elements() / rows;
  const int64_t bytes = run * static_cast<int64_t>(DTypeSize(x.dtype()));
  for (int64_t i = 0; i < rows; ++i) {
    CopyElements(x.dtype(),
                 static_cast<const char*>(x.raw_data()) + order[static_cast<size_t>(i)] * bytes,
                 static_cast<char*>(y->raw_data()) + i * bytes, run);
  }
  return OkStatus();
}

namespace {

StatusOr<KernelFn> BindShuffle(const BindContext& bind) {
  ASSIGN_OR_RETURN(auto generator, GeneratorOf(bind));
  return KernelFn([generator](KernelContext& c) -> Status {
    const Tensor& x = c.input(0);
    const int64_t rows = x.rank() == 0 ? 1 : x.dim(0);
    const bool moves = rows > 1 && x.num_elements() > 0;
    return ShuffleRows(c, WordStream(generator->Reserve(moves ? (rows + 3) / 4 : 0)));
  });
}

std::vector<KernelDef> MakeTable() {
  std::vector<KernelRow> rows;
  for (const char* op :
       {"StatelessRandomUniform", "StatelessRandomNormal", "StatelessTruncatedNormal",
        "StatelessRandomUniformV2", "StatelessRandomNormalV2", "StatelessTruncatedNormalV2"}) {
    rows.push_back({op, BindStateless, FloatTypes(), "dtype"});
  }
  for (const char* op : {"StatelessRandomUniformInt", "StatelessRandomUniformIntV2",
                         "StatelessRandomUniformFullInt", "StatelessRandomUniformFullIntV2"}) {
    rows.push_back({op, BindStateless, IntTypes::DTypes(), "dtype"});
  }
  rows.push_back({"StatelessRandomGetKeyCounter", BindKeyCounter});
  rows.push_back({"StatelessRandomGetKeyCounterAlg", BindKeyCounter});
  rows.push_back({"StatelessRandomGetAlg",
                  [](const BindContext&) -> StatusOr<KernelFn> { return KernelFn(RunGetAlg); }});
  for (const char* op : {"RandomUniform", "RandomStandardNormal", "TruncatedNormal"}) {
    rows.push_back({op, BindStateful, FloatTypes(), "dtype"});
  }
  rows.push_back({"RandomUniformInt", BindStateful, IndexTypes(), "Tout"});
  rows.push_back({"RandomShuffle", BindShuffle});
  return MakeKernels(std::move(rows));
}

}  // namespace

std::span<const KernelDef> RandomKernels() {
  static const std::vector<KernelDef> table = MakeTable();
  return table;
}

}  // namespace slipway::kernels
