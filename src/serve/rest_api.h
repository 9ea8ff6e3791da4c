// SPDX-License-Identifier: Apache-2.0
//
// The REST front end: TensorFlow Serving's paths, bodies, codes and messages over net's HTTP.
// Beyond them: GET /v1/models lists the models, GET /healthz and /readyz, a page for people at /, a
// query string is ignored instead of refused, gzip errors are said.
#pragma once

#include <cstdint>
#include <string>

#include "net/http.h"
#include "serve/front_end.h"
#include "serve/rest_path.h"

namespace slipway::serve {

// Thread safety: Handle from any thread. The object must outlive every request.
class RestApi {
 public:
  explicit RestApi(const FrontEnd& front_end) : front_(front_end) {}

  void Handle(net::HttpRequest& request, net::HttpResponder responder) const;

 private:
  struct Pending;
  void Reply(net::HttpResponder responder, net::HttpResponse response) const;
  void ReplyError(net::HttpResponder responder, const Status& status) const;
  void HandleRoute(const ContainerRoute& route, net::HttpRequest& request,
                   net::HttpResponder responder) const;
  void ReplyReady(net::HttpResponder responder) const;
  void HandleV1(net::HttpRequest& request, net::HttpResponder responder) const;
  void HandleOptions(net::HttpRequest& request, net::HttpResponder responder) const;
  void HandlePlain(net::HttpRequest& request, net::HttpResponder responder) const;
  StatusOr<std::string> Describe(const RestPath& path) const;

  // Predict, classify and regress, from the body on.
  void Predict(net::HttpRequest& request, const RestPath& path, net::HttpResponder responder) const;
  void PredictOnWorker(net::Bytes body, bool gzip, Pending pending,
                       net::HttpResponder responder) const;
  void RunOnWorker(Pending pending, net::HttpResponder responder) const;
  void Finish(Pending* pending, const Status& status, std::string body,
              net::HttpResponder responder) const;

  const FrontEnd front_;
};

}  // namespace slipway::serve
