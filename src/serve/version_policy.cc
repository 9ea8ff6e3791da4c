// SPDX-License-Identifier: Apache-2.0
#include "serve/version_policy.h"

#include <algorithm>

namespace slipway::serve {
namespace {

using Kind = VersionAction::Kind;

// The available version, other than `spared`, that is lowest (or highest).
VersionAction UnloadOne(std::span<const VersionView> versions, const WantedVersion& spared,
                        bool lowest) {
  const VersionView* found = nullptr;
  for (const VersionView& view : versions) {
    if (view.stage != VersionStage::kAvailable) continue;
    if (spared.any && view.version == spared.version) continue;
    if (found == nullptr || (view.version < found->version) == lowest) found = &view;
  }
  if (found == nullptr) return {};
  return {Kind::kUnload, found->version};
}

}  // namespace

WantedVersion LatestUsable(std::span<const VersionView> versions) {
  WantedVersion wanted;
  for (const VersionView& view : versions) {
    if (!view.present || view.stage == VersionStage::kBlocked) continue;
    if (!wanted.any || view.version > wanted.version) wanted = {true, view.version};
  }
  return wanted;
}

VersionAction NextVersionAction(std::span<const VersionView> versions) {
  const bool any_present = std::any_of(versions.begin(), versions.end(),
                                       [](const VersionView& view) { return view.present; });
  if (!any_present) return UnloadOne(versions, {}, /*lowest=*/false);

  const WantedVersion wanted = LatestUsable(versions);
  if (!wanted.any) return {};
  bool loading = false;
  const VersionView* target = nullptr;
  for (const VersionView& view : versions) {
    loading |= view.stage == VersionStage::kLoading;
    if (view.version == wanted.version) target = &view;
  }
  if (target->stage == VersionStage::kAvailable) return UnloadOne(versions, wanted, true);
  if (target->stage == VersionStage::kIdle && !loading) return {Kind::kLoad, wanted.version};
  return {};
}

}  // namespace slipway::serve
