// SPDX-License-Identifier: Apache-2.0
//
// The whole of Slipway's C++ API.
#pragma once

#include "slipway/callbacks.h"
#include "slipway/data.h"
#include "slipway/dtype.h"
#include "slipway/initializers.h"
#include "slipway/layers.h"
#include "slipway/losses.h"
#include "slipway/metrics.h"
#include "slipway/model.h"
#include "slipway/ops.h"
#include "slipway/optimizers.h"
#include "slipway/saved_model.h"
#include "slipway/shape.h"
#include "slipway/status.h"
#include "slipway/tensor.h"
