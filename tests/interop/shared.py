# SPDX-License-Identifier: Apache-2.0
"""Where reference models and suites lie: $SLIPWAY_SHARED, or the folder `shared` beside the project."""
import os

_project = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SHARED = os.environ.get("SLIPWAY_SHARED") or os.path.join(os.path.dirname(_project), "shared")
