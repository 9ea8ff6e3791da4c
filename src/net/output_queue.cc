// SPDX-License-Identifier: Apache-2.0
#include "net/output_queue.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>

#include "net/tls.h"

namespace slipway::net {
namespace {

constexpr size_t kCopyBelow = 8 * 1024;
constexpr size_t kKeepBytes = 64 * 1024;

}  // namespace

void OutputQueue::Append(std::string_view bytes) {
  if (!open_) {
    if (pending_ > 0 || chunks_.empty()) chunks_.emplace_back();
    open_ = true;
  } else if (chunks_.back().size() >= kKeepBytes) {
    chunks_.emplace_back();
  }
  chunks_.back().append(bytes);
  pending_ += bytes.size();
}

void OutputQueue::AppendOwned(std::string&& bytes) {
  if (bytes.size() < kCopyBelow) return Append(bytes);
  // An empty kept buffer stays in front, so that it is there again for the next round.
  pending_ += bytes.size();
  chunks_.push_back(std::move(bytes));
  open_ = false;
}

OutputQueue::Result OutputQueue::Flush(int fd) {
  constexpr size_t kMaxParts = 16;
  while (pending_ > 0) {
    iovec parts[kMaxParts];
    size_t count = 0;
    for (size_t i = first_, skip = offset_; i < chunks_.size() && count < kMaxParts; ++i) {
      if (chunks_[i].size() > skip)
        parts[count++] = {chunks_[i].data() + skip, chunks_[i].size() - skip};
      skip = 0;
    }
    ssize_t n;
    if (count == 1) {
      n = send(fd, parts[0].iov_base, parts[0].iov_len, MSG_NOSIGNAL | MSG_DONTWAIT);
    } else {
      msghdr message{};
      message.msg_iov = parts;
      message.msg_iovlen = count;
      n = sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    }
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno == EAGAIN || errno == EWOULDBLOCK ? Result::kBlocked : Result::kFailed;
    Sent(static_cast<size_t>(n));
  }
  return Result::kDone;
}

OutputQueue::Result OutputQueue::Flush(TlsSession* tls) {
  while (pending_ > 0) {
    if (chunks_[first_].size() == offset_) {
      ++first_;
      offset_ = 0;
      continue;
    }
    const std::string& chunk = chunks_[first_];
    size_t n = 0;
    switch (tls->Write(chunk.data() + offset_, chunk.size() - offset_, &n)) {
      case TlsSession::Result::kDone:
        Sent(n);
        break;
      case TlsSession::Result::kBlocked:
        return Result::kBlocked;
      case TlsSession::Result::kEnd:
      case TlsSession::Result::kFailed:
        return Result::kFailed;
    }
  }
  return Result::kDone;
}

void OutputQueue::Sent(size_t n) {
  pending_ -= n;
  if (pending_ == 0) {
    chunks_.resize(1);
    if (chunks_[0].capacity() > kKeepBytes)
      chunks_[0] = std::string();
    else
      chunks_[0].clear();
    first_ = offset_ = 0;
    open_ = true;
    return;
  }
  offset_ += n;
  while (offset_ >= chunks_[first_].size()) {
    offset_ -= chunks_[first_].size();
    if (first_ > 0) chunks_[first_] = std::string();
    ++first_;
  }
  if (first_ > 32) {
    chunks_.erase(chunks_.begin() + 1, chunks_.begin() + static_cast<ptrdiff_t>(first_));
    chunks_[0].clear();
    first_ = 1;
  }
}

}  // namespace slipway::net
