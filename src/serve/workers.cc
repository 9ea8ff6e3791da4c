// SPDX-License-Identifier: Apache-2.0
#include "serve/workers.h"

#include "base/strings.h"

namespace slipway::serve {

Status Workers::Overloaded() const {
  return UnavailableError(StrCat("The server is overloaded: ", max_pending_,
                                 " requests are waiting or running already; try again later"));
}

}  // namespace slipway::serve
