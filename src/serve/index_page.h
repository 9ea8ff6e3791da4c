// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "serve/model_manager.h"

namespace slipway::serve {

// A page for people, as HTML: the models, their versions and signatures, each with a curl line for
// `host` ("localhost:8501") that works.
std::string IndexPage(const ModelManager& manager, std::string_view host);

}  // namespace slipway::serve
