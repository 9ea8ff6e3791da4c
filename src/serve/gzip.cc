// SPDX-License-Identifier: Apache-2.0
#include "serve/gzip.h"

#include <zlib.h>

#include <algorithm>

#include "base/strings.h"

namespace slipway::serve {
namespace {

struct Inflater {
  z_stream stream = {};
  bool ok = inflateInit2(&stream, 16 + MAX_WBITS) == Z_OK;
  ~Inflater() {
    if (ok) inflateEnd(&stream);
  }
};

}  // namespace

StatusOr<std::string> Gunzip(std::string_view bytes, size_t limit) {
  Inflater inflater;
  if (!inflater.ok) return ResourceExhaustedError("There is no memory to inflate the body");
  z_stream& stream = inflater.stream;
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  std::string out;
  for (;;) {
    char chunk[64 * 1024];
    stream.next_out = reinterpret_cast<Bytef*>(chunk);
    stream.avail_out = sizeof chunk;
    const int result = inflate(&stream, Z_NO_FLUSH);
    out.append(chunk, sizeof chunk - stream.avail_out);
    if (out.size() > limit) {
      return ResourceExhaustedError(
          StrCat("The gzip body inflates to more than the ", limit, " bytes allowed"));
    }
    if (result == Z_STREAM_END) {
      if (stream.avail_in == 0) return out;
      if (inflateReset(&stream) == Z_OK) continue;
    }
    if (result == Z_OK) continue;
    return InvalidArgumentError(
        StrCat("The body is no gzip stream, though Content-Encoding says "
               "so: ",
               stream.msg != nullptr ? stream.msg : "it is cut"));
  }
}

}  // namespace slipway::serve
