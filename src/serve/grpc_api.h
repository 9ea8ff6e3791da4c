// SPDX-License-Identifier: Apache-2.0
//
// The gRPC front end: tensorflow.serving.PredictionService (Predict, Classify, Regress,
// MultiInference, GetModelMetadata),
// ModelService (GetModelStatus, HandleReloadConfigRequest) and grpc.health.v1.Health/Check.
// Predict goes through wire's own codec: no message objects between the bytes and the tensors.
#pragma once

#include "net/grpc.h"
#include "serve/front_end.h"

namespace slipway::serve {

// Thread safety: the handlers from any thread. The object must outlive every call.
class GrpcApi {
 public:
  explicit GrpcApi(const FrontEnd& front_end) : front_(front_end) {}

  // The table for net::Server. The health service knows "", "ModelService" and
  // "PredictionService", and the full names of the two.
  net::GrpcMethods Methods(bool with_health) const;

 private:
  struct Job;
  void Predict(Method method, net::GrpcCall call) const;
  void PredictOnWorker(Method method, net::GrpcCall call) const;
  void MultiInference(net::GrpcCall call) const;
  StatusOr<std::string> Metadata(std::string_view request) const;
  StatusOr<std::string> ModelStatus(std::string_view request) const;
  void Reload(net::GrpcCall call) const;
  StatusOr<std::string> Health(std::string_view request) const;
  // Decodes and binds, up to where it is known what the run costs.
  Status Prepare(std::string_view request, uint64_t max_splat_bytes, Job* job) const;
  Status Answer(Job* job, std::string* response) const;

  const FrontEnd front_;
};

}  // namespace slipway::serve
