// SPDX-License-Identifier: Apache-2.0
#include "cli/predict_flags.h"

#include "base/env.h"
#include "base/strings.h"
#include "wire/npy.h"

namespace slipway::cli {
namespace {

struct RowRange {
  int64_t begin = 0;
  int64_t end = 0;
};

StatusOr<RowRange> ParseRows(const std::string& text, int64_t total) {
  const auto pieces = StrSplit(text, ':');
  std::optional<int64_t> begin, end;
  if (pieces.size() == 2) {
    begin = ParseInt64(pieces[0]);
    end = ParseInt64(pieces[1]);
  }
  if (!begin || !end || *begin < 0 || *begin >= *end || *end > total) {
    return InvalidArgumentError(
        StrCat("--rows is '", text, "', wanted BEGIN:END within 0:", total));
  }
  return RowRange{*begin, *end};
}

StatusOr<Tensor> Divided(const Tensor& t, double divisor) {
  Tensor quotient(DType::kFloat, t.shape());
  const auto to = quotient.flat<float>();
  const auto divide = [&](const auto& from) {
    for (size_t i = 0; i < from.size(); ++i) {
      to[i] = static_cast<float>(static_cast<double>(from[i]) / divisor);
    }
  };
  if (t.dtype() == DType::kUInt8) {
    divide(t.flat<uint8_t>());
  } else if (t.dtype() == DType::kFloat) {
    divide(t.flat<float>());
  } else {
    return InvalidArgumentError(
        StrCat("--divide_by is for uint8 and float32 inputs, this one is ", DTypeName(t.dtype())));
  }
  return quotient;
}

}  // namespace

StatusOr<Tensor> ReadTensorFile(const std::string& path, const std::string& rows) {
  Tensor t;
  if (path.ends_with(".npy")) {
    ASSIGN_OR_RETURN(t, ReadNpy(Env::Default(), path));
  } else {
    ASSIGN_OR_RETURN(t, ReadIdxFile(path));
  }
  if (rows.empty()) return t;
  ASSIGN_OR_RETURN(const RowRange range, ParseRows(rows, t.rank() > 0 ? t.dim(0) : 0));
  return t.Slice(range.begin, range.end);
}

std::vector<Flag> PredictFlags::Table() {
  return {{"server", &server, "HOST:PORT of the server; 8500 is gRPC, 8501 REST by habit"},
          {"protocol", &protocol, "rest or grpc"},
          {"model_name", &model_name, "the model"},
          {"signature_name", &signature_name, "the signature; serving_default if not given"},
          {"version", &version, "the version; the latest if negative"},
          {"inputs", &inputs, "an input as NAME=FILE, .npy or IDX; may be given again"},
          {"rows", &rows, "rows of the inputs to send, BEGIN:END; all if not given"},
          {"divide_by", &divide_by, "divides the inputs, such as pixels by 255"}};
}

StatusOr<client::PredictTarget> PredictFlags::Target() const {
  client::PredictTarget target;
  if (protocol != "rest" && protocol != "grpc") {
    return InvalidArgumentError(StrCat("--protocol is '", protocol, "', wanted rest or grpc"));
  }
  target.protocol = protocol == "rest" ? client::Protocol::kRest : client::Protocol::kGrpc;
  const size_t colon = server.rfind(':');
  const auto port = colon == std::string::npos
                        ? std::nullopt
                        : ParseInt64(std::string_view(server).substr(colon + 1));
  if (!port || *port < 1 || *port > 65535) {
    return InvalidArgumentError(StrCat("--server is '", server, "', wanted HOST:PORT"));
  }
  target.host = server.substr(0, colon);
  target.port = static_cast<int>(*port);
  target.model_name = model_name;
  target.signature_name = signature_name;
  if (version >= 0) target.version = version;
  return target;
}

StatusOr<client::NamedTensors> PredictFlags::Inputs() const {
  client::NamedTensors tensors;
  for (const std::string& text : inputs) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos) {
      return InvalidArgumentError(StrCat("--inputs is '", text, "', wanted NAME=FILE"));
    }
    ASSIGN_OR_RETURN(Tensor t, ReadTensorFile(text.substr(equals + 1), rows));
    if (divide_by != 1) {
      ASSIGN_OR_RETURN(t, Divided(t, divide_by));
    }
    tensors.emplace_back(text.substr(0, equals), std::move(t));
  }
  return tensors;
}

}  // namespace slipway::cli
