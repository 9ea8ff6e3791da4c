// SPDX-License-Identifier: Apache-2.0
//
// Bytes on their way to a socket: small pieces are gathered in one buffer that is used again
// and again, large bodies are moved in whole; both go out in one writev.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::net {

class TlsSession;

// Not thread safe.
class OutputQueue {
 public:
  void Append(std::string_view bytes);
  // Takes the text over, unless it is so small that a copy is cheaper.
  void AppendOwned(std::string&& bytes);

  bool empty() const { return pending_ == 0; }
  size_t pending() const { return pending_; }

  enum class Result { kDone, kBlocked, kFailed };
  // Writes as much as the socket takes.
  Result Flush(int fd);
  Result Flush(TlsSession* tls);

 private:
  void Sent(size_t n);

  std::vector<std::string> chunks_;  // chunks_[0] keeps its memory between rounds
  size_t first_ = 0;                 // chunks before it are sent
  size_t offset_ = 0;                // sent bytes of chunks_[first_]
  size_t pending_ = 0;
  bool open_ = false;  // the last chunk is ours to append to
};

}  // namespace slipway::net
