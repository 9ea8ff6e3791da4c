// SPDX-License-Identifier: Apache-2.0
#include "kernels/open_bundle.h"

#include "base/strings.h"

namespace slipway::kernels {
namespace {

constexpr char kPrefix[] = "//bundle/";  // no variable has such a name

struct OpenedBundle : public Resource {
  std::shared_ptr<const BundleReader> reader;
  FileInfo index;
  std::string DebugString() const override { return "an open checkpoint"; }
};

bool SameFile(const FileInfo& a, const FileInfo& b) {
  return a.size == b.size && a.modified_ns == b.modified_ns;
}

}  // namespace

StatusOr<std::shared_ptr<const BundleReader>> OpenBundle(ResourceContainer* resources, Env* env,
                                                         const std::string& prefix) {
  const auto index = env->Stat(BundleIndexName(prefix));
  const std::string name = kPrefix + prefix;
  if (resources != nullptr && index.ok()) {
    const auto found = std::dynamic_pointer_cast<OpenedBundle>(resources->Find(name));
    if (found != nullptr && SameFile(found->index, *index)) return found->reader;
    if (found != nullptr) resources->Remove(name);
  }
  ASSIGN_OR_RETURN(std::shared_ptr<const BundleReader> reader, BundleReader::Open(env, prefix));
  if (resources == nullptr || !index.ok()) return reader;
  auto opened = std::make_shared<OpenedBundle>();
  opened->reader = reader;
  opened->index = *index;
  RETURN_IF_ERROR(resources->FindOrCreate<OpenedBundle>(name, [&] { return opened; }).status());
  return reader;
}

void CloseBundles(ResourceContainer* resources) {
  if (resources == nullptr) return;
  for (const auto& [name, resource] : resources->All()) {
    if (name.starts_with(kPrefix)) resources->Remove(name);
  }
}

}  // namespace slipway::kernels
