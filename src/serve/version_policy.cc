// SPDX-License-Identifier: Apache-2.0
#include "serve/version_policy.h"

#include <algorithm>
#include <functional>

namespace slipway::serve {
namespace {

using Kind = VersionAction::Kind;

// The available version, other than those spared, that is lowest (or highest).
VersionAction UnloadOne(std::span<const VersionView> versions, std::span<const int64_t> spared,
                        bool lowest) {
  const VersionView* found = nullptr;
  for (const VersionView& view : versions) {
    if (view.stage != VersionStage::kAvailable) continue;
    if (std::ranges::find(spared, view.version) != spared.end()) continue;
    if (found == nullptr || (view.version < found->version) == lowest) found = &view;
  }
  if (found == nullptr) return {};
  return {Kind::kUnload, found->version};
}

VersionStage StageOf(std::span<const VersionView> versions, int64_t version) {
  return std::ranges::find(versions, version, &VersionView::version)->stage;
}

}  // namespace

bool VersionPolicy::Admits(int64_t version) const {
  return kind != Kind::kSpecific || std::ranges::binary_search(specific, version);
}

size_t VersionPolicy::Limit() const { return kind == Kind::kLatest ? latest : SIZE_MAX; }

std::vector<int64_t> WantedVersions(const VersionPolicy& policy,
                                    std::span<const VersionView> versions) {
  std::vector<int64_t> wanted;
  for (const VersionView& view : versions) {
    if (view.present && view.stage != VersionStage::kBlocked && policy.Admits(view.version))
      wanted.push_back(view.version);
  }
  std::ranges::sort(wanted, std::greater());
  wanted.resize(std::min(wanted.size(), policy.Limit()));
  return wanted;
}

VersionAction NextVersionAction(const VersionPolicy& policy,
                                std::span<const VersionView> versions) {
  const bool any_present = std::ranges::any_of(versions, [&](const VersionView& view) {
    return view.present && policy.Admits(view.version);
  });
  if (!any_present) return UnloadOne(versions, {}, /*lowest=*/false);

  const std::vector<int64_t> wanted = WantedVersions(policy, versions);
  if (wanted.empty()) return {};
  const auto is = [&](VersionStage stage) {
    return [&versions, stage](int64_t version) { return StageOf(versions, version) == stage; };
  };
  if (std::ranges::all_of(wanted, is(VersionStage::kAvailable)))
    return UnloadOne(versions, wanted, /*lowest=*/true);
  if (std::ranges::find(versions, VersionStage::kLoading, &VersionView::stage) != versions.end())
    return {};
  const auto idle = std::ranges::find_if(wanted, is(VersionStage::kIdle));
  if (idle == wanted.end()) return {};
  return {Kind::kLoad, *idle};
}

}  // namespace slipway::serve
