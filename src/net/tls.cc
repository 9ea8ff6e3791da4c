// SPDX-License-Identifier: Apache-2.0
#include "net/tls.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>

#include <csignal>
#include <mutex>

#include "base/strings.h"

namespace slipway::net {
namespace {

using BioPtr = std::unique_ptr<BIO, decltype(&BIO_free)>;
using CertPtr = std::unique_ptr<X509, decltype(&X509_free)>;
using KeyPtr = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;

// The oldest error of this thread; the others follow from it.
std::string OpenSslError() {
  char text[256] = "unknown error";
  if (const unsigned long code = ERR_get_error(); code != 0)
    ERR_error_string_n(code, text, sizeof text);
  ERR_clear_error();
  return text;
}

BioPtr TextOf(const std::string& pem) {
  return BioPtr(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())), &BIO_free);
}

CertPtr NextCertificate(BIO* pem) {
  CertPtr certificate(PEM_read_bio_X509(pem, nullptr, nullptr, nullptr), &X509_free);
  if (certificate == nullptr) ERR_clear_error();  // the end of the text
  return certificate;
}

Status UseCertificates(SSL_CTX* context, const TlsOptions& options) {
  const BioPtr pem = TextOf(options.certificates);
  const CertPtr own = NextCertificate(pem.get());
  if (own == nullptr || SSL_CTX_use_certificate(context, own.get()) != 1)
    return InvalidArgumentError("The server's certificate is no PEM text of a certificate");
  while (CertPtr next = NextCertificate(pem.get()))
    if (SSL_CTX_add1_chain_cert(context, next.get()) != 1)
      return InvalidArgumentError(StrCat("The server's chain of certificates: ", OpenSslError()));
  const BioPtr key_pem = TextOf(options.key);
  const KeyPtr key(PEM_read_bio_PrivateKey(key_pem.get(), nullptr, nullptr, nullptr),
                   &EVP_PKEY_free);
  if (key == nullptr)
    return InvalidArgumentError(
        StrCat("The server's key is no PEM text of a key: ", OpenSslError()));
  if (SSL_CTX_use_PrivateKey(context, key.get()) != 1)
    return InvalidArgumentError(
        StrCat("The server's key is not that of its certificate: ", OpenSslError()));
  return OkStatus();
}

Status VerifyClients(SSL_CTX* context, const TlsOptions& options) {
  const BioPtr pem = TextOf(options.client_authorities);
  int authorities = 0;
  while (CertPtr authority = NextCertificate(pem.get())) {
    X509_STORE_add_cert(SSL_CTX_get_cert_store(context), authority.get());
    SSL_CTX_add_client_CA(context, authority.get());
    ++authorities;
  }
  if (authorities == 0) {
    return InvalidArgumentError(
        "Clients are to be verified, and there is no certificate of an authority for them");
  }
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  return OkStatus();
}

// The first of ours that the client offers too.
int SelectProtocol(SSL*, const unsigned char** out, unsigned char* out_size,
                   const unsigned char* offered, unsigned int size, void*) {
  static constexpr unsigned char kOurs[] = "\x02h2\x08http/1.1";
  unsigned char* selected = nullptr;
  if (SSL_select_next_proto(&selected, out_size, kOurs, sizeof kOurs - 1, offered, size) !=
      OPENSSL_NPN_NEGOTIATED)
    return SSL_TLSEXT_ERR_NOACK;
  *out = selected;
  return SSL_TLSEXT_ERR_OK;
}

// OpenSSL writes with write(2): a peer that is gone must be an error and not the end of the
// process.
void IgnoreBrokenPipes() {
  static std::once_flag once;
  std::call_once(once, [] {
    struct sigaction now {};
    if (sigaction(SIGPIPE, nullptr, &now) == 0 && now.sa_handler == SIG_DFL)
      std::signal(SIGPIPE, SIG_IGN);
  });
}

}  // namespace

StatusOr<std::shared_ptr<const TlsContext>> TlsContext::Create(const TlsOptions& options) {
  IgnoreBrokenPipes();
  SSL_CTX* raw = SSL_CTX_new(TLS_server_method());
  if (raw == nullptr) return InternalError(StrCat("OpenSSL: ", OpenSslError()));
  std::shared_ptr<const TlsContext> context(new TlsContext(raw));
  SSL_CTX_set_min_proto_version(raw, TLS1_2_VERSION);
  SSL_CTX_set_options(raw, SSL_OP_NO_RENEGOTIATION | SSL_OP_CIPHER_SERVER_PREFERENCE);
  SSL_CTX_set_mode(raw, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                            SSL_MODE_RELEASE_BUFFERS);
  constexpr unsigned char kSessions[] = "slipway";
  SSL_CTX_set_session_id_context(raw, kSessions, sizeof kSessions - 1);
  SSL_CTX_set_alpn_select_cb(raw, &SelectProtocol, nullptr);
  RETURN_IF_ERROR(UseCertificates(raw, options));
  if (options.verify_clients) RETURN_IF_ERROR(VerifyClients(raw, options));
  return context;
}

TlsContext::~TlsContext() { SSL_CTX_free(context_); }

std::unique_ptr<TlsSession> TlsContext::Accept(int fd) const {
  SSL* session = SSL_new(context_);
  if (session == nullptr) return nullptr;
  auto accepted = std::make_unique<TlsSession>(session);
  if (SSL_set_fd(session, fd) != 1) return nullptr;
  SSL_set_accept_state(session);
  return accepted;
}

TlsSession::~TlsSession() { SSL_free(session_); }

TlsSession::Result TlsSession::Classify(int returned) {
  const int error = SSL_get_error(session_, returned);
  ERR_clear_error();
  wants_write_ = error == SSL_ERROR_WANT_WRITE;
  if (wants_write_ || error == SSL_ERROR_WANT_READ) return Result::kBlocked;
  if (error == SSL_ERROR_ZERO_RETURN) return Result::kEnd;
  failed_ = true;
  return Result::kFailed;
}

TlsSession::Result TlsSession::Read(char* to, size_t size, size_t* n) {
  wants_write_ = false;
  const int returned = SSL_read_ex(session_, to, size, n);
  return returned == 1 ? Result::kDone : Classify(returned);
}

TlsSession::Result TlsSession::Write(const char* from, size_t size, size_t* n) {
  wants_write_ = false;
  const int returned = SSL_write_ex(session_, from, size, n);
  return returned == 1 ? Result::kDone : Classify(returned);
}

void TlsSession::FinishWriting() {
  if (!failed_ && established()) SSL_shutdown(session_);
  ERR_clear_error();
}

bool TlsSession::established() const { return SSL_is_init_finished(session_) == 1; }

bool TlsSession::HasPending() const { return SSL_pending(session_) > 0; }

}  // namespace slipway::net
