// SPDX-License-Identifier: Apache-2.0
#include "serve/index_page.h"

#include "base/strings.h"
#include "wire/json_tensor.h"

namespace slipway::serve {
namespace {

// A longer body is no line to copy.
constexpr int64_t kMaxElements = 256;

std::string Escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out.push_back(c);
    }
  }
  return out;
}

std::string PercentEncoded(std::string_view name) {
  constexpr char kDigits[] = "0123456789ABCDEF";
  std::string out;
  for (const char c : name) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '_' || c == '.' || c == '~';
    if (plain) {
      out.push_back(c);
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out.append({'%', kDigits[byte >> 4], kDigits[byte & 15]});
    }
  }
  return out;
}

// One word of a shell, whatever is in it.
std::string ShellQuoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'')
      out += "'\\''";
    else
      out.push_back(c);
  }
  return out + "'";
}

std::string_view JsonZero(DType dtype) {
  if (dtype == DType::kString) return "\"\"";
  if (dtype == DType::kBool) return "false";
  return IsFloating(dtype) ? "0.0" : "0";
}

// A value of the shape, with 1 for what is not known. Nothing if it is too long.
bool AppendZeros(const TensorSpec& spec, int dim, int64_t* left, std::string* out) {
  if (!spec.shape.has_rank() || dim == spec.shape.rank()) {
    out->append(JsonZero(spec.dtype));
    return --*left >= 0;
  }
  const int64_t size = spec.shape.dim(dim) < 0 ? 1 : spec.shape.dim(dim);
  out->push_back('[');
  for (int64_t i = 0; i < size; ++i) {
    if (i > 0) out->append(", ");
    if (!AppendZeros(spec, dim + 1, left, out)) return false;
  }
  out->push_back(']');
  return true;
}

// The body of a request to the signature; empty if none can be shown.
std::string ExampleBody(const model::Signature& signature) {
  std::string body = "{\"signature_name\": ";
  AppendJsonString(signature.name(), &body);
  body += ", \"inputs\": {";
  int64_t left = kMaxElements;
  bool first = true;
  for (const TensorSpec& spec : signature.inputs()) {
    if (IsComplex(spec.dtype) || IsQuantized(spec.dtype)) return "";
    if (!first) body += ", ";
    first = false;
    AppendJsonString(spec.name, &body);
    body += ": ";
    if (!AppendZeros(spec, 0, &left, &body)) return "";
  }
  return first ? "" : body + "}}";
}

std::string Curl(std::string_view url, const model::Signature& signature) {
  // What features an example needs is the graph's secret.
  if (signature.method_name() == "tensorflow/serving/classify" ||
      signature.method_name() == "tensorflow/serving/regress")
    return "";
  const std::string body = ExampleBody(signature);
  if (body.empty()) return "";
  return StrCat("curl -d ", ShellQuoted(body), " ", ShellQuoted(StrCat(url, ":predict")));
}

void AppendTensors(std::string_view word, const std::vector<TensorSpec>& specs, std::string* out) {
  for (const TensorSpec& spec : specs) {
    StrAppend(out, "<li>", word, " <b>", Escaped(spec.name), "</b>: ", DTypeName(spec.dtype), " ",
              Escaped(spec.shape.ToString()), "</li>\n");
  }
}

void AppendVersion(std::string_view url, const Servable& servable, std::string* out) {
  for (const model::Signature* signature : servable.saved_model()->signatures()) {
    StrAppend(out, "<h4>", Escaped(signature->name()), " <small>",
              Escaped(signature->method_name()), "</small></h4>\n<ul>\n");
    AppendTensors("in", signature->inputs(), out);
    AppendTensors("out", signature->outputs(), out);
    *out += "</ul>\n";
    const std::string curl = Curl(url, *signature);
    if (!curl.empty()) StrAppend(out, "<pre>", Escaped(curl), "</pre>\n");
  }
}

void AppendModel(const ModelManager& manager, std::string_view host, const std::string& name,
                 std::string* out) {
  StrAppend(out, "<h2>", Escaped(name), "</h2>\n");
  const auto rows = manager.Statuses(name);
  if (!rows.ok()) {
    *out += "<p>no version</p>\n";
    return;
  }
  for (const VersionStatus& row : *rows) {
    StrAppend(out, "<h3>version ", row.version, ": ", VersionStateName(row.state), "</h3>\n");
    if (!row.status.ok()) StrAppend(out, "<p>", Escaped(row.status.ToString()), "</p>\n");
    const Registry::Found found = manager.registry().Find(name, row.version);
    if (!found.lease || found.lease->saved_model() == nullptr) continue;
    const std::string url =
        StrCat("http://", host, "/v1/models/", PercentEncoded(name), "/versions/", row.version);
    AppendVersion(url, *found.lease, out);
  }
}

}  // namespace

std::string IndexPage(const ModelManager& manager, std::string_view host) {
  std::string page =
      "<!doctype html>\n<meta charset=\"utf-8\">\n<title>slipway serve</title>\n"
      "<style>body{font-family:sans-serif;margin:2em}pre{background:#eee;padding:1em;"
      "overflow:auto}</style>\n<h1>Models</h1>\n";
  for (const std::string& name : manager.ModelNames()) AppendModel(manager, host, name, &page);
  return page +
         "<p><a href=\"/v1/models\">/v1/models</a> <a href=\"/metrics\">/metrics</a> "
         "<a href=\"/readyz\">/readyz</a></p>\n";
}

}  // namespace slipway::serve
