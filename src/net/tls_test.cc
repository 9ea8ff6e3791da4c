// SPDX-License-Identifier: Apache-2.0
//
// A server with TLS, spoken to by OpenSSL's own client.
#include "net/tls.h"

#include <fcntl.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include "gmock/gmock.h"
#include "net/test_server.h"

namespace slipway::net {
namespace {

using ::testing::HasSubstr;

std::string TextOf(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  std::string text(data, static_cast<size_t>(size));
  BIO_free(bio);
  return text;
}

// A key with a certificate that it signed itself.
struct Identity {
  Identity() : key(EVP_EC_gen("P-256")), certificate(X509_new()) {
    X509_set_version(certificate, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
    X509_gmtime_adj(X509_getm_notBefore(certificate), -3600);
    X509_gmtime_adj(X509_getm_notAfter(certificate), 3600);
    X509_set_pubkey(certificate, key);
    X509_NAME* name = X509_get_subject_name(certificate);
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                               reinterpret_cast<const unsigned char*>("test"), -1, -1, 0);
    X509_set_issuer_name(certificate, name);
    X509_sign(certificate, key, EVP_sha256());
  }
  ~Identity() {
    X509_free(certificate);
    EVP_PKEY_free(key);
  }
  Identity(const Identity&) = delete;
  Identity& operator=(const Identity&) = delete;

  std::string CertificatePem() const {
    BIO* bio = BIO_new(BIO_s_mem());
    PEM_write_bio_X509(bio, certificate);
    return TextOf(bio);
  }
  std::string KeyPem() const {
    BIO* bio = BIO_new(BIO_s_mem());
    PEM_write_bio_PrivateKey(bio, key, nullptr, nullptr, 0, nullptr, nullptr);
    return TextOf(bio);
  }

  EVP_PKEY* key;
  X509* certificate;
};

// A blocking connection by TLS.
class TlsClient {
 public:
  TlsClient(int port, const Identity& server, const Identity* own)
      : context_(SSL_CTX_new(TLS_client_method())) {
    X509_STORE_add_cert(SSL_CTX_get_cert_store(context_), server.certificate);
    SSL_CTX_set_verify(context_, SSL_VERIFY_PEER, nullptr);
    if (own != nullptr) {
      SSL_CTX_use_certificate(context_, own->certificate);
      SSL_CTX_use_PrivateKey(context_, own->key);
    }
    int error = 0;
    auto socket = ConnectTcp("127.0.0.1", port, std::chrono::seconds(10), &error);
    EXPECT_TRUE(socket.ok());
    socket_ = *std::move(socket);
    fcntl(socket_.fd(), F_SETFL, fcntl(socket_.fd(), F_GETFL) & ~O_NONBLOCK);
    session_ = SSL_new(context_);
    SSL_set_fd(session_, socket_.fd());
    constexpr unsigned char kOffered[] = "\x08http/1.1\x02h2";
    SSL_set_alpn_protos(session_, kOffered, sizeof kOffered - 1);
    connected_ = SSL_connect(session_) == 1;
  }
  ~TlsClient() {
    SSL_free(session_);
    SSL_CTX_free(context_);
  }
  TlsClient(const TlsClient&) = delete;
  TlsClient& operator=(const TlsClient&) = delete;

  bool connected() const { return connected_; }
  std::string Protocol() const {
    const unsigned char* name = nullptr;
    unsigned int size = 0;
    SSL_get0_alpn_selected(session_, &name, &size);
    return {reinterpret_cast<const char*>(name), size};
  }
  bool Send(std::string_view bytes) {
    return SSL_write(session_, bytes.data(), static_cast<int>(bytes.size())) ==
           static_cast<int>(bytes.size());
  }
  // Up to the end of the connection.
  std::string ReadAll() {
    std::string got;
    char buffer[16384];
    for (int n; (n = SSL_read(session_, buffer, sizeof buffer)) > 0;)
      got.append(buffer, static_cast<size_t>(n));
    return got;
  }

 private:
  SSL_CTX* context_;
  Socket socket_;
  SSL* session_ = nullptr;
  bool connected_ = false;
};

class TlsTest : public ::testing::Test {
 protected:
  ServerOptions Options(const Identity* authority = nullptr) const {
    TlsOptions tls{server_.CertificatePem(), server_.KeyPem(), "", authority != nullptr};
    if (authority != nullptr) tls.client_authorities = authority->CertificatePem();
    auto context = TlsContext::Create(tls);
    EXPECT_TRUE(context.ok()) << context.status().ToString();
    ServerOptions options;
    options.tls = *context;
    return options;
  }
  const Identity server_;
  const Identity client_;
};

TEST_F(TlsTest, RequestsAndAnswersOfAnySize) {
  const TestServer server(Options());
  for (const size_t size : {size_t{0}, size_t{1}, size_t{16384}, size_t{16385}, size_t{3} << 20}) {
    TlsClient client(server.port(), server_, nullptr);
    ASSERT_TRUE(client.connected());
    EXPECT_EQ(client.Protocol(), "h2");
    std::string body(size, '\0');
    for (size_t i = 0; i < size; ++i) body[i] = static_cast<char>('a' + i % 23);
    ASSERT_TRUE(
        client.Send(StrCat("POST /echo HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
                           "Content-Length: ",
                           size, "\r\n\r\n", body)));
    const std::string answer = client.ReadAll();
    EXPECT_THAT(answer, testing::StartsWith("HTTP/1.1 200 OK\r\n"));
    EXPECT_TRUE(answer.ends_with("\r\n\r\n" + body)) << size;
  }
}

TEST_F(TlsTest, ManyRequestsOnOneConnection) {
  const TestServer server(Options());
  TlsClient client(server.port(), server_, nullptr);
  std::string requests;
  for (int i = 0; i < 200; ++i) StrAppend(&requests, "GET /", i, " HTTP/1.1\r\nHost: x\r\n\r\n");
  requests += "GET /last HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
  ASSERT_TRUE(client.Send(requests));
  const std::string answers = client.ReadAll();
  for (int i = 0; i < 200; ++i) EXPECT_THAT(answers, HasSubstr(StrCat("GET /", i, "?")));
  EXPECT_THAT(answers, HasSubstr("GET /last?"));
}

TEST_F(TlsTest, APlainClientGetsNoAnswer) {
  const TestServer server(Options());
  RawClient client(server.port());
  ASSERT_TRUE(client.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n"));
  EXPECT_THAT(client.ReadAll(), testing::Not(HasSubstr("HTTP/1.1")));
}

TEST_F(TlsTest, AHandshakeThatDoesNotComeIsCutOff) {
  ServerOptions options = Options();
  options.header_timeout = std::chrono::milliseconds(50);
  const TestServer server(options);
  RawClient client(server.port());
  ASSERT_TRUE(client.Send("\x16\x03\x01"));
  EXPECT_THAT(client.ReadAll(), testing::Not(HasSubstr("nothing came")));
}

TEST_F(TlsTest, ClientsAreVerified) {
  const TestServer server(Options(&client_));
  const std::string request = "GET /a HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
  const auto ask = [&](const Identity* identity) {
    TlsClient client(server.port(), server_, identity);
    client.Send(request);
    return client.ReadAll();
  };
  EXPECT_THAT(ask(&client_), HasSubstr("GET /a?"));
  EXPECT_EQ(ask(nullptr), "");
  const Identity stranger;
  EXPECT_EQ(ask(&stranger), "");
}

TEST_F(TlsTest, Errors) {
  const std::string certificate = server_.CertificatePem();
  EXPECT_THAT(TlsContext::Create({"", server_.KeyPem(), "", false}).status().ToString(),
              HasSubstr("certificate is no PEM text"));
  EXPECT_THAT(TlsContext::Create({certificate, "none", "", false}).status().ToString(),
              HasSubstr("key is no PEM text"));
  EXPECT_THAT(TlsContext::Create({certificate, client_.KeyPem(), "", false}).status().ToString(),
              HasSubstr("is not that of its certificate"));
  EXPECT_THAT(TlsContext::Create({certificate, server_.KeyPem(), "", true}).status().ToString(),
              HasSubstr("no certificate of an authority"));
}

}  // namespace
}  // namespace slipway::net
