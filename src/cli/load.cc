// SPDX-License-Identifier: Apache-2.0
#include "client/load.h"

#include <csignal>
#include <cstdio>

#include "base/clock.h"
#include "base/duration.h"
#include "base/strings.h"
#include "cli/command.h"
#include "cli/predict_flags.h"
#include "client/swaps.h"

namespace slipway::cli {
namespace {

std::atomic<bool> stop{false};
void Stop(int) { stop.store(true); }

struct LoadFlags {
  int32_t connections = 1;
  int64_t requests = 0;
  double seconds = 0;
  double pause_ms = 0;
  std::string expect_versions;
  int64_t min_overlap = 0;
  double window_seconds = 0.5;
};

StatusOr<client::LoadOptions> MakeOptions(const PredictFlags& predict, const LoadFlags& flags) {
  client::LoadOptions options;
  ASSIGN_OR_RETURN(const client::PredictTarget target, predict.Target());
  ASSIGN_OR_RETURN(const client::NamedTensors inputs, predict.Inputs());
  ASSIGN_OR_RETURN(std::string body, client::EncodePredict(target, inputs));
  options.protocol = target.protocol == client::Protocol::kRest ? client::LoadProtocol::kHttp
                                                                : client::LoadProtocol::kGrpc;
  options.host = target.host;
  options.port = target.port;
  options.target = client::PredictPath(target);
  options.bodies = {std::move(body)};
  options.connections = flags.connections;
  options.requests = flags.requests;
  options.duration = std::chrono::milliseconds(NanosFrom(flags.seconds, 1'000'000'000) / 1'000'000);
  options.pause = std::chrono::microseconds(NanosFrom(flags.pause_ms, 1'000'000) / 1'000);
  options.stop = &stop;
  return options;
}

Status CheckSwaps(const client::VersionTimeline& timeline, const LoadFlags& flags, int64_t start) {
  const auto swaps = timeline.Swaps(NanosFrom(flags.window_seconds, 1'000'000'000));
  for (const client::Swap& swap : swaps) {
    std::printf(
        "swap: version %lld -> %lld at %.3f s; within %.1f s of it %lld requests before, "
        "%lld after, %lld failed\n",
        static_cast<long long>(swap.from), static_cast<long long>(swap.to),
        static_cast<double>(swap.time_ns - start) / 1e9, flags.window_seconds,
        static_cast<long long>(swap.before), static_cast<long long>(swap.after),
        static_cast<long long>(swap.failures));
    if (std::min(swap.before, swap.after) < flags.min_overlap) {
      return FailedPreconditionError(StrCat("Too few requests overlapped the swap: ", swap.before,
                                            " before and ", swap.after, " after, wanted ",
                                            flags.min_overlap, " on each side"));
    }
  }
  if (!flags.expect_versions.empty() && timeline.Versions() != flags.expect_versions) {
    return FailedPreconditionError(StrCat("The versions that answered were ", timeline.Versions(),
                                          ", wanted ", flags.expect_versions));
  }
  return OkStatus();
}

Status Run(const PredictFlags& predict, const LoadFlags& flags) {
  ASSIGN_OR_RETURN(client::LoadOptions options, MakeOptions(predict, flags));
  client::VersionTimeline timeline;
  options.on_sample = [&](const client::LoadSample& sample) {
    if (options.protocol != client::LoadProtocol::kGrpc) return;
    const auto version =
        sample.failure.empty() ? client::AnsweringVersion(sample.response) : std::nullopt;
    timeline.Add({sample.end_ns, version.value_or(-1)});
  };
  const int64_t start = Clock::Default()->NowNanos();
  ASSIGN_OR_RETURN(const client::LoadReport report, client::RunLoad(options));
  std::fputs(report.ToText().c_str(), stdout);
  RETURN_IF_ERROR(CheckSwaps(timeline, flags, start));
  if (report.failures == 0) return OkStatus();
  return UnavailableError(StrCat(report.failures, " of ", report.requests, " requests failed"));
}

}  // namespace

int RunLoad(Args args) {
  PredictFlags predict;
  LoadFlags f;
  std::vector<Flag> table = predict.Table();
  table.insert(table.end(),
               {{"connections", &f.connections, "connections, each with one request at a time"},
                {"requests", &f.requests, "requests in all; 0 is no limit"},
                {"seconds", &f.seconds, "how long; 0 is until SIGINT or SIGTERM"},
                {"pause_ms", &f.pause_ms,
                 "how long a connection waits before its next request; 0 is not at all"},
                {"expect_versions", &f.expect_versions,
                 "fail unless these versions answered in this order, such as 1,2,1 (gRPC)"},
                {"min_overlap", &f.min_overlap,
                 "fail if fewer requests were answered on either side of a swap (gRPC)"},
                {"window_seconds", &f.window_seconds, "how far a side reaches"}});
  FlagSet flags("slipway load --inputs NAME=FILE [flags]",
                "Sends predictions to a model server as fast as it answers and counts: rate, "
                "latency, failures (refused connections included), changes of the version that "
                "answers. Exits with 1 if a request failed.",
                table);
  if (const Parsed parsed = ParseFlags(&flags, "load", args, 0); parsed.exit) return *parsed.exit;
  std::signal(SIGINT, Stop);
  std::signal(SIGTERM, Stop);
  const Status status = Run(predict, f);
  return status.ok() ? kDone : Fail(status);
}

}  // namespace slipway::cli
