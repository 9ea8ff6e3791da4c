// SPDX-License-Identifier: Apache-2.0
//
// Ops that pass values through, and those that only check or tell.
#include <chrono>
#include <cmath>
#include <cstdio>

#include "kernels/attrs.h"
#include "kernels/checks.h"
#include "kernels/format_tensor.h"
#include "kernels/kernel_table.h"
#include "kernels/strided_copy.h"
#include "kernels/types.h"

namespace slipway::kernels {
namespace {

Status RunNothing(KernelContext&) { return OkStatus(); }

// Outputs that are declared to share their input's memory; more are copies.
constexpr int kSharedOutputs = 64;

Status RunForward(KernelContext& c) {
  for (int i = 0; i < c.num_inputs(); ++i) {
    const Tensor& x = c.input(i);
    if (i < kSharedOutputs) {
      c.SetOutput(i, x);
      continue;
    }
    ASSIGN_OR_RETURN(Tensor * y, c.AllocateOutput(i, x.shape()));
    CopyElements(x.dtype(), x.raw_data(), y->raw_data(), x.num_elements());
  }
  return OkStatus();
}
Status RunForwardFirst(KernelContext& c) {
  c.SetOutput(0, c.input(0));
  return OkStatus();
}

template <Status (*kRun)(KernelContext&)>
StatusOr<KernelFn> BindPlain(const BindContext&) {
  return KernelFn(kRun);
}

StatusOr<KernelFn> BindConst(const BindContext& c) {
  ASSIGN_OR_RETURN(Tensor value, c.node->Attr<Tensor>("value"));
  return KernelFn([value](KernelContext& ctx) {
    ctx.SetOutput(0, value);
    return OkStatus();
  });
}

StatusOr<KernelFn> BindEnsureShape(const BindContext& c) {
  ASSIGN_OR_RETURN(PartialShape wanted, c.node->Attr<PartialShape>("shape"));
  return KernelFn([wanted](KernelContext& ctx) -> Status {
    const Tensor& x = ctx.input(0);
    if (!wanted.Admits(x.shape())) {
      return InvalidArgumentError(StrCat("Shape of tensor ", x.shape().ToString(),
                                         " is not compatible with expected shape ",
                                         wanted.ToString()));
    }
    ctx.SetOutput(0, x);
    return OkStatus();
  });
}

struct Defects {
  bool nan = false;
  bool inf = false;
};
template <typename T, typename A>
Defects DefectsOf(const Tensor& x) {
  Defects defects;
  for (T v : x.flat<T>()) {
    const A value = static_cast<A>(v);
    if (std::isfinite(value)) continue;
    (std::isnan(value) ? defects.nan : defects.inf) = true;
  }
  return defects;
}

StatusOr<KernelFn> BindCheckNumerics(const BindContext& c) {
  ASSIGN_OR_RETURN(std::string message, c.node->Attr<std::string>("message"));
  return KernelFn([message](KernelContext& ctx) -> Status {
    const Tensor& x = ctx.input(0);
    Defects defects;
    if (x.dtype() == DType::kFloat) defects = DefectsOf<float, float>(x);
    if (x.dtype() == DType::kDouble) defects = DefectsOf<double, double>(x);
    if (x.dtype() == DType::kHalf) defects = DefectsOf<Half, float>(x);
    if (x.dtype() == DType::kBFloat16) defects = DefectsOf<BFloat16, float>(x);
    if (defects.nan || defects.inf) {
      const char* what = defects.nan && defects.inf ? "Inf and NaN" : defects.nan ? "NaN" : "Inf";
      return InvalidArgumentError(StrCat(message, " : Tensor had ", what, " values"));
    }
    ctx.SetOutput(0, x);
    return OkStatus();
  });
}

StatusOr<KernelFn> BindAssert(const BindContext& c) {
  const int64_t summarize = IntAttr(*c.node, "summarize", 3);
  return KernelFn([summarize](KernelContext& ctx) -> Status {
    const Tensor& condition = ctx.input(0);
    if (condition.num_elements() != 1) {
      return InvalidArgumentError(
          StrCat("In[0] should be a scalar: ", condition.shape().ToString()));
    }
    if (condition.flat<bool>()[0]) return OkStatus();
    std::string message = "assertion failed:";
    for (int i = 1; i < ctx.num_inputs(); ++i) {
      StrAppend(&message, " [", FormatFlat(ctx.input(i), summarize), "]");
    }
    return InvalidArgumentError(std::move(message));
  });
}

// To standard error or output, as the attribute says; a file's name goes to standard error too.
StatusOr<KernelFn> BindPrintV2(const BindContext& c) {
  const std::string stream = AttrOr<std::string>(*c.node, "output_stream", "stderr");
  const std::string end = AttrOr<std::string>(*c.node, "end", "\n");
  FILE* file = stream == "stdout" ? stdout : stderr;
  return KernelFn([file, end](KernelContext& ctx) -> Status {
    RETURN_IF_ERROR(CheckScalar(ctx.input(0), "input"));
    const std::string text = ctx.input(0).flat<std::string>()[0] + end;
    std::fwrite(text.data(), 1, text.size(), file);
    return OkStatus();
  });
}

StatusOr<KernelFn> BindPrint(const BindContext& c) {
  const std::string message = AttrOr<std::string>(*c.node, "message", "");
  const int64_t summarize = IntAttr(*c.node, "summarize", 3);
  return KernelFn([message, summarize](KernelContext& ctx) -> Status {
    std::string text = message;
    for (int i = 1; i < ctx.num_inputs(); ++i) {
      StrAppend(&text, "[", FormatFlat(ctx.input(i), summarize), "]");
    }
    text.push_back('\n');
    std::fwrite(text.data(), 1, text.size(), stderr);
    ctx.SetOutput(0, ctx.input(0));
    return OkStatus();
  });
}

// Seconds since 1970.
Status RunTimestamp(KernelContext& c) {
  ASSIGN_OR_RETURN(Tensor * y, c.AllocateOutput(0, Shape()));
  const std::chrono::duration<double> since = std::chrono::system_clock::now().time_since_epoch();
  y->flat<double>()[0] = since.count();
  return OkStatus();
}

std::vector<KernelDef> MakeTable() {
  std::vector<KernelRow> rows = {
      {"NoOp", BindPlain<RunNothing>},
      {"ControlTrigger", BindPlain<RunNothing>},
      {"Timestamp", BindPlain<RunTimestamp>},
      {"Const", BindConst},
      {"IdentityN", BindPlain<RunForward>},
      {"EnsureShape", BindEnsureShape},
      {"CheckNumerics", BindCheckNumerics, FloatTypes()},
      {"Assert", BindAssert},
      {"PrintV2", BindPrintV2},
      {"Print", BindPrint},
  };
  for (const char* op :
       {"Identity", "StopGradient", "PreventGradient", "Snapshot", "PlaceholderWithDefault"}) {
    rows.push_back({op, BindPlain<RunForwardFirst>});
  }
  std::vector<KernelDef> table = MakeKernels(std::move(rows));
  for (KernelDef& def : table) {
    if (def.op != "NoOp" && def.op != "ControlTrigger" && def.op != "Const" && def.op != "Assert" &&
        def.op != "PrintV2" && def.op != "Timestamp") {
      def.shares = {{0, 0}};
      for (int i = 1; def.op == "IdentityN" && i < kSharedOutputs; ++i)
        def.shares.push_back({i, i});
    }
  }
  return table;
}

}  // namespace

std::span<const KernelDef> ControlKernels() {
  static const std::vector<KernelDef> table = MakeTable();
  return table;
}

}  // namespace slipway::kernels
