// SPDX-License-Identifier: Apache-2.0
#include "net/bytes.h"

#include <algorithm>
#include <cstdlib>
#include <new>

namespace slipway::net {

Bytes::~Bytes() { std::free(data_); }

char* Bytes::Prepare(size_t n) {
  if (capacity_ - size_ < n) {
    const size_t wanted = std::max(size_ + n, std::max(capacity_ * 2, size_t{512}));
    // realloc moves pages, not bytes, once a body is large.
    char* grown = static_cast<char*>(std::realloc(data_, wanted));
    if (grown == nullptr) std::abort();
    data_ = grown;
    capacity_ = wanted;
  }
  return data_ + size_;
}

void Bytes::Append(std::string_view text) {
  if (text.empty()) return;
  std::memcpy(Prepare(text.size()), text.data(), text.size());
  size_ += text.size();
}

void Bytes::Consume(size_t n) {
  size_ -= n;
  if (size_ > 0 && n > 0) std::memmove(data_, data_ + n, size_);
}

void Bytes::Recycle(size_t keep) {
  size_ = 0;
  if (capacity_ <= keep) return;
  std::free(data_);
  data_ = nullptr;
  capacity_ = 0;
}

}  // namespace slipway::net
