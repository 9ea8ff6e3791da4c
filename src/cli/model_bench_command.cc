// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <cstdio>

#include "base/clock.h"
#include "base/strings.h"
#include "cli/command.h"
#include "cli/model_inputs.h"
#include "exec/device.h"
#include "kernels/machine_probe.h"
#include "model/bench.h"

namespace slipway::cli {
namespace {

struct ModelBenchFlags {
  ModelInputFlags model;
  std::string callers = "1";
  double seconds = 2;
  int64_t batch = 1;
  int64_t dimension = 16;
  int32_t profile_calls = 20;
  int32_t rows = 20;
  bool by_node = false;
  std::string trace;
  std::string format = "text";
};

struct Machine {
  kernels::MachineLimits limits;
  int threads = 1;
  double cache_bytes = 0;
  double gflops() const { return limits.gflops * threads; }
};

struct Report {
  double load_ms = 0;
  std::vector<model::BenchResult> results;
  std::vector<exec::OpRow> ops;  // of `profiled` calls
  int profiled = 0;
  double flops = 0;  // of a call
  Machine machine;

  double PeakFraction(const model::BenchResult& r) const {
    return machine.gflops() > 0 ? flops * r.calls_per_second / (machine.gflops() * 1e9) : 0;
  }
};

Machine Probe() {
  Machine machine;
  machine.limits = kernels::ProbeMachine();
  machine.threads = exec::Device::DefaultCpu()->intra_op_threads();
  const long cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
  machine.cache_bytes = cache > 0 ? static_cast<double>(cache) : 32 << 20;
  return machine;
}

StatusOr<std::vector<int>> ParseCallers(const std::string& text) {
  std::vector<int> callers;
  for (const std::string_view piece : StrSplit(text, ',')) {
    const auto n = ParseInt64(StripWhitespace(piece));
    if (!n || *n < 1 || *n > 1024) {
      return InvalidArgumentError(
          StrCat("--callers is '", text, "', wanted numbers from 1 to 1024 with ',' between"));
    }
    callers.push_back(static_cast<int>(*n));
  }
  return callers;
}

StatusOr<Report> Measure(const ModelBenchFlags& f, const std::vector<int>& callers) {
  Report report;
  const int64_t start = Clock::Default()->NowNanos();
  ASSIGN_OR_RETURN(const auto model, f.model.Load({.required_signature = f.model.signature}));
  report.load_ms = static_cast<double>(Clock::Default()->NowNanos() - start) / 1e6;
  ASSIGN_OR_RETURN(const model::Signature* signature, model->FindSignature(f.model.signature));
  model::TensorMap inputs;
  if (f.model.any_inputs()) {
    ASSIGN_OR_RETURN(inputs, f.model.Inputs(*signature));
  } else {
    const model::SynthesisOptions options{.batch = f.batch, .dimension = f.dimension};
    ASSIGN_OR_RETURN(inputs, model::SynthesiseInputs(*signature, options));
  }
  for (const int n : callers) {
    const model::BenchOptions options{.callers = n, .seconds = f.seconds};
    ASSIGN_OR_RETURN(const auto result, model::Bench(*signature, inputs, options));
    report.results.push_back(result);
  }
  exec::StepProfile profile;
  report.profiled = f.profile_calls;
  RETURN_IF_ERROR(model::Profile(*signature, inputs, f.profile_calls, &profile));
  report.ops = exec::OpTable(profile, f.by_node);
  for (const exec::OpRow& row : report.ops) report.flops += row.flops / f.profile_calls;
  report.machine = Probe();
  if (f.trace.empty()) return report;
  RETURN_IF_ERROR(exec::WritePerfettoTrace(Env::Default(), f.trace, profile));
  return report;
}

void PrintOps(const ModelBenchFlags& f, const Report& report) {
  int64_t all = 0;
  for (const exec::OpRow& row : report.ops) all += row.self_ns;
  std::printf("\n%-36s %8s %10s %7s %10s %8s %9s\n", f.by_node ? "node" : "op", "calls", "us",
              "share", "floor us", "of peak", "GFLOP/s");
  const double calls = report.profiled;
  for (size_t i = 0; i < report.ops.size() && i < static_cast<size_t>(f.rows); ++i) {
    const exec::OpRow& row = report.ops[i];
    const auto floor = static_cast<double>(exec::FloorNanos(row, report.machine.gflops(),
                                                            report.machine.limits.gb_per_second,
                                                            report.machine.cache_bytes));
    const double self = static_cast<double>(std::max<int64_t>(row.self_ns, 1));
    const std::string name =
        row.name.size() > 36 ? "…" + row.name.substr(row.name.size() - 35) : row.name;
    std::printf("%-36s %8.1f %10.1f %6.1f%% %10.1f %7.1f%% %9.2f\n", name.c_str(),
                static_cast<double>(row.calls) / calls, self / 1e3 / calls,
                100 * self / static_cast<double>(std::max<int64_t>(all, 1)), floor / 1e3 / calls,
                100 * row.flops / self / report.machine.gflops(), row.flops / self);
  }
  if (report.ops.size() > static_cast<size_t>(f.rows)) {
    std::printf("and %zu more; --rows shows them\n",
                report.ops.size() - static_cast<size_t>(f.rows));
  }
}

void PrintText(const ModelBenchFlags& f, const Report& report) {
  std::printf("loaded in %.1f ms; %d threads, peak %.0f GFLOP/s, memory %.1f GB/s\n\n",
              report.load_ms, report.machine.threads, report.machine.gflops(),
              report.machine.limits.gb_per_second);
  std::printf("%7s %12s %10s %10s %10s %10s %10s %8s\n", "callers", "calls/s", "min us", "p50 us",
              "p90 us", "p99 us", "max us", "of peak");
  for (const model::BenchResult& r : report.results) {
    std::printf("%7d %12.1f %10.1f %10.1f %10.1f %10.1f %10.1f %7.1f%%\n", r.callers,
                r.calls_per_second, r.min_us, r.p50_us, r.p90_us, r.p99_us, r.max_us,
                100 * report.PeakFraction(r));
  }
  PrintOps(f, report);
}

std::string ResultJson(const Report& report, const model::BenchResult& r) {
  char text[512];
  std::snprintf(text, sizeof(text),
                "\"callers\": %d, \"calls\": %lld, \"calls_per_second\": %.3f, \"min_us\": %.3f, "
                "\"mean_us\": %.3f, \"p50_us\": %.3f, \"p90_us\": %.3f, \"p99_us\": %.3f, "
                "\"max_us\": %.3f, \"peak_fraction\": %.5f",
                r.callers, static_cast<long long>(r.calls), r.calls_per_second, r.min_us, r.mean_us,
                r.p50_us, r.p90_us, r.p99_us, r.max_us, report.PeakFraction(r));
  return text;
}

// Names are ops' (or nodes', which TensorFlow limits to plain characters).
void PrintJson(const Report& report) {
  std::printf("{%s, \"threads\": %d, \"load_ms\": %.3f, \"flops\": %.0f,\n \"runs\": [",
              ResultJson(report, report.results[0]).c_str(), report.machine.threads, report.load_ms,
              report.flops);
  for (const model::BenchResult& r : report.results) {
    std::printf("%s{%s}", &r == &report.results[0] ? "" : ",\n  ", ResultJson(report, r).c_str());
  }
  std::printf("],\n \"ops\": [");
  for (const exec::OpRow& row : report.ops) {
    const int64_t floor =
        exec::FloorNanos(row, report.machine.gflops(), report.machine.limits.gb_per_second,
                         report.machine.cache_bytes);
    const double calls = report.profiled;
    std::printf(
        "%s{\"name\": %s, \"calls\": %.3f, \"us\": %.3f, \"floor_us\": %.3f, "
        "\"flops\": %.0f, \"bytes\": %.0f}",
        &row == &report.ops[0] ? "" : ",\n  ", Quoted(row.name, 1000).c_str(),
        static_cast<double>(row.calls) / calls, static_cast<double>(row.self_ns) / 1e3 / calls,
        static_cast<double>(floor) / 1e3 / calls, row.flops / calls, row.bytes / calls);
  }
  std::printf("]}\n");
}

Status CheckFlags(const ModelBenchFlags& f) {
  if (f.model.dir.empty()) {
    return InvalidArgumentError("the SavedModel's directory is missing");
  }
  if (f.format != "text" && f.format != "json") {
    return InvalidArgumentError(StrCat("--format is '", f.format, "', wanted text or json"));
  }
  if (!(f.seconds > 0 && f.seconds < 1e6) || f.batch < 0 || f.dimension < 0 || f.rows < 0 ||
      f.profile_calls < 1) {
    return InvalidArgumentError(
        "--seconds and --profile_calls must be above 0, --batch, --dimension and --rows not below");
  }
  return OkStatus();
}

}  // namespace

int RunModelBench(Args args) {
  ModelBenchFlags f;
  std::vector<Flag> table = f.model.Table();
  table.insert(
      table.end(),
      {{"callers", &f.callers, "threads that call at once; several runs as in 1,2,4"},
       {"seconds", &f.seconds, "how long each run takes"},
       {"batch", &f.batch, "size of an unknown first dimension of inputs that are made up"},
       {"dimension", &f.dimension, "size of their other unknown dimensions"},
       {"profile_calls", &f.profile_calls, "calls that the table of ops is made from"},
       {"rows", &f.rows, "rows of the table of ops"},
       {"by_node", &f.by_node, "a row a node instead of a row an op"},
       {"trace", &f.trace, "a file for when each op of those calls ran, for ui.perfetto.dev"},
       {"format", &f.format, "text or json"}});
  FlagSet flags("slipway model bench DIR [flags]",
                "Times a signature of a SavedModel: latency, throughput, and which ops take the "
                "time, beside what the machine can do. Inputs are given as in `slipway model run`, "
                "or made up from the signature.",
                std::move(table));
  const Parsed parsed = ParseFlags(&flags, "model bench", args, 1);
  if (parsed.exit) return *parsed.exit;
  if (!parsed.positional.empty()) f.model.dir = parsed.positional[0];
  if (const Status usage = CheckFlags(f); !usage.ok()) return FailUsage("model bench", usage);
  const auto callers = ParseCallers(f.callers);
  if (!callers.ok()) return FailUsage("model bench", callers.status());
  const StatusOr<Report> report = Measure(f, *callers);
  if (!report.ok()) return Fail(report.status());
  f.format == "json" ? PrintJson(*report) : PrintText(f, *report);
  return kDone;
}

}  // namespace slipway::cli
