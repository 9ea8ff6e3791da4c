// SPDX-License-Identifier: Apache-2.0
#include "serve/rest_path.h"

#include "base/strings.h"
#include "gtest/gtest.h"

namespace slipway::serve {
namespace {

std::string Parsed(std::string_view path) {
  RestPath parsed;
  ParseRestPath(path, &parsed);
  std::string where(parsed.model);
  if (parsed.version) StrAppend(&where, " v", *parsed.version);
  if (!parsed.label.empty()) StrAppend(&where, " l=", parsed.label);
  switch (parsed.kind) {
    case RestPath::Kind::kMalformed:
      return "malformed";
    case RestPath::Kind::kBadVersion:
      return StrCat("bad version ", parsed.text);
    case RestPath::Kind::kModelList:
      return "list";
    case RestPath::Kind::kVerb:
      return StrCat(parsed.text, " ", where);
    case RestPath::Kind::kStatus:
      return StrCat("status ", where);
    case RestPath::Kind::kMetadata:
      return StrCat("metadata ", where);
  }
  return "?";
}

TEST(RestPath, Table) {
  const struct {
    const char* path;
    const char* wanted;
  } cases[] = {
      {"/v1/models/m:predict", "predict m"},
      {"/V1/Models/m:predict", "predict m"},
      {"/v1/models/m:PREDICT", "malformed"},
      {"/v1/models/m:classify", "classify m"},
      {"/v1/models/m/versions/12:regress", "regress m v12"},
      {"/v1/models/m/versions/000124:predict", "predict m v124"},
      {"/v1/models/m/labels/canary:predict", "predict m l=canary"},
      {"/v1/models/m", "status m"},
      {"/v1/models/m/versions/3", "status m v3"},
      {"/v1/models/m/labels/x/metadata", "metadata m l=x"},
      {"/v1/models/m/metadata", "metadata m"},
      {"/v1/models/metadata", "status metadata"},
      {"/v1/models", "list"},
      {"/v1/models/", "list"},
      {"/v1/models/m/versions/18446744073709551615:predict", "bad version 18446744073709551615"},
      {"/v1/models/m/versions/18446744073709551615:fly", "malformed"},
      {"/v1/models/%68p2:predict", "predict hp2"},
      {"/v1/models/a%20b+c", "status a b+c"},
      {"/v1/models/a%2Fb%3Ac:predict", "predict a/b:c"},
      {"/v1/models/m/labels/%21%23%24%25%26%27%28%29%2A%2B%2C%2F%3A%3B%3D%3F%40%5B%5D:predict",
       "predict m l=!#$%&'()*+,/:;=?@[]"},
      {"/v1/foo", "malformed"},
      {"/v1", "malformed"},
      {"/v1/modelsx", "malformed"},
      {"/v1/models:predict", "malformed"},
      {"/v1/models/m/", "malformed"},
      {"/v1/models/m:", "malformed"},
      {"/v1/models/m:predict/", "malformed"},
      {"/v1/models/m/version/50:predict", "malformed"},
      {"/v1/models/m/versions/HELLO:regress", "malformed"},
      {"/v1/models/m/versions/-1", "malformed"},
      {"/v1/models/m/versions/", "malformed"},
      {"/v1/models/m/label/x", "malformed"},
      {"/v1/models/m/labels/", "malformed"},
      {"/v1/models/m/versions/1/labels/x", "malformed"},
      {"/v1/models/m/metadata:predict", "malformed"},
      {"", "malformed"},
      {"/", "malformed"},
  };
  for (const auto& c : cases) EXPECT_EQ(Parsed(c.path), c.wanted) << c.path;
}

}  // namespace
}  // namespace slipway::serve
