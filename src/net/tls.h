// SPDX-License-Identifier: Apache-2.0
//
// TLS 1.2 and 1.3 on accepted sockets, by OpenSSL. ALPN offers h2 and http/1.1.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "slipway/status.h"

struct ssl_ctx_st;
struct ssl_st;

namespace slipway::net {

// All texts are PEM.
struct TlsOptions {
  std::string certificates;  // the server's own, then those that lead to its authority
  std::string key;
  std::string client_authorities;  // whose clients are let in; needed with verify_clients
  bool verify_clients = false;
};

class TlsSession;

// Immutable; shared by the connections of a server. Thread safety: all methods from any thread.
class TlsContext {
 public:
  // INVALID_ARGUMENT: a text that is no PEM, a key that is not the certificate's, no authorities
  // for clients that are to be verified.
  static StatusOr<std::shared_ptr<const TlsContext>> Create(const TlsOptions& options);
  ~TlsContext();
  TlsContext(const TlsContext&) = delete;
  TlsContext& operator=(const TlsContext&) = delete;

  // The server's side of a connection on a non-blocking socket, which stays the caller's. Null when
  // there is no memory.
  std::unique_ptr<TlsSession> Accept(int fd) const;

 private:
  explicit TlsContext(ssl_ctx_st* context) : context_(context) {}
  ssl_ctx_st* const context_;
};

// Not thread safe. The handshake is part of the first reads and writes.
class TlsSession {
 public:
  explicit TlsSession(ssl_st* session) : session_(session) {}
  ~TlsSession();
  TlsSession(const TlsSession&) = delete;
  TlsSession& operator=(const TlsSession&) = delete;

  enum class Result { kDone, kBlocked, kEnd, kFailed };
  // kDone: *n bytes, at least one. kEnd: the peer will send no more.
  Result Read(char* to, size_t size, size_t* n);
  Result Write(const char* from, size_t size, size_t* n);
  // Says that no more will be written.
  void FinishWriting();

  bool established() const;
  // Bytes are here that no event of the socket will tell of.
  bool HasPending() const;
  // The last call waits for the socket to take bytes, whatever it was.
  bool wants_write() const { return wants_write_; }

 private:
  Result Classify(int returned);

  ssl_st* const session_;
  bool wants_write_ = false;
  bool failed_ = false;
};

}  // namespace slipway::net
