// SPDX-License-Identifier: Apache-2.0
#include "reference/reference_cases.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <set>

#include "base/env.h"
#include "base/strings.h"

namespace slipway {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

constexpr int kSkipped = 77;

std::string CasesFolder(const std::string& source, const std::string& group) {
  std::vector<std::string> places;
  if (const char* own = std::getenv("SLIPWAY_TRAINING_CASES")) {
    places.emplace_back(own);
  } else if (const char* shared = std::getenv("SLIPWAY_SHARED")) {
    places.push_back(std::string(shared) + "/training");
  }
  places.push_back(source + "/../shared/training");
  for (const std::string& place : places) {
    if (fs::is_directory(StrCat(place, "/", group))) return StrCat(place, "/", group);
  }
  return "";
}

StatusOr<Json> ReadCase(const std::string& folder) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(Env::Default(), folder + "/case.json"));
  Json c = Json::parse(text, nullptr, false);
  if (c.is_discarded()) return DataLossError(folder + "/case.json is not JSON");
  return c;
}

std::vector<std::string> Others(const ReferenceGroup& group, const std::string& folder,
                                const std::string& source) {
  std::set<std::string> listed;
  for (const char* file : {"cases.txt", "not_yet.txt"}) {
    const auto text = ReadFile(Env::Default(), StrCat(source, "/", group.lists, "/", file));
    if (!text.ok()) continue;
    for (std::string_view line : StrSplit(*text, '\n')) {
      listed.emplace(line.substr(0, line.find(':')));
    }
  }
  std::vector<std::string> others;
  for (const auto& entry : fs::directory_iterator(folder)) {
    std::string name = entry.path().filename().string();
    if (listed.contains(name)) continue;
    const auto c = ReadCase(entry.path().string());
    const bool meant = c.ok() && (group.kind.empty() || c->value("kind", "") == group.kind);
    if (meant) others.push_back(std::move(name));
  }
  return others;
}

int Run(const ReferenceGroup& group, const std::string& source, std::vector<std::string> names) {
  const std::string folder = CasesFolder(source, group.name);
  if (!folder.empty() && names == std::vector<std::string>{"others"}) {
    names = Others(group, folder, source);
  }
  std::erase_if(names, [&](const std::string& name) {
    return folder.empty() || !fs::exists(StrCat(folder, "/", name, "/case.json"));
  });
  if (names.empty()) {
    std::printf("skipped: no such case at $SLIPWAY_TRAINING_CASES or $SLIPWAY_SHARED/training\n");
    return kSkipped;
  }
  int failed = 0;
  for (const std::string& name : names) {
    const std::string at = StrCat(folder, "/", name);
    const auto c = ReadCase(at);
    const Status status = c.ok() ? group.check(at, *c) : c.status();
    if (status.ok()) continue;
    ++failed;
    std::printf("%s: %s\n", name.c_str(), status.ToString().c_str());
  }
  std::printf("%d passed, %d failed\n", static_cast<int>(names.size()) - failed, failed);
  return failed == 0 ? 0 : 1;
}

}  // namespace

int RunReferenceCases(const ReferenceGroup& group, int argc, char** argv) {
  std::string source = ".";
  std::vector<std::string> names;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument.starts_with("--source=")) {
      source = argument.substr(9);
    } else {
      names.push_back(argument);
    }
  }
  return Run(group, source, std::move(names));
}

}  // namespace slipway
