import { describe, expect, test } from "vitest";
import { classifyFailure, isOwnFault } from "../../src/posts/failure.ts";

const errorWith = (code: unknown): Error => Object.assign(new Error("connect 10.0.0.1:443"), { code });

describe("classifyFailure", () => {
  test.each([
    ["destination_not_allowed", "destination_not_allowed"],
    ["ENOTFOUND", "dns_error"],
    ["EAI_AGAIN", "dns_error"],
    ["ECONNREFUSED", "connection_refused"],
    ["ECONNRESET", "connection_reset"],
    ["EPIPE", "connection_reset"],
    ["UND_ERR_SOCKET", "connection_reset"],
    ["ETIMEDOUT", "timeout"],
    ["UND_ERR_CONNECT_TIMEOUT", "timeout"],
    ["ENETUNREACH", "network_unreachable"],
    ["EHOSTUNREACH", "network_unreachable"],
    ["EPROTO", "tls_error"],
    ["ERR_SSL_WRONG_VERSION_NUMBER", "tls_error"],
    ["ERR_TLS_CERT_ALTNAME_INVALID", "tls_error"],
    ["DEPTH_ZERO_SELF_SIGNED_CERT", "tls_error"],
    ["SELF_SIGNED_CERT_IN_CHAIN", "tls_error"],
    ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", "tls_error"],
    ["CERT_HAS_EXPIRED", "tls_error"],
    ["HPE_INVALID_CONSTANT", "invalid_response"],
    ["UND_ERR_HEADERS_OVERFLOW", "invalid_response"],
    ["ESOMETHING", "network_error"],
    [undefined, "network_error"],
  ])("%s is %s", (code, name) => expect(classifyFailure(errorWith(code))).toBe(name));

  test("a value that is not an error is a network_error", () => expect(classifyFailure("text")).toBe("network_error"));

  test("failures of several addresses are classified by the first one", () => {
    expect(classifyFailure(Object.assign(new AggregateError([]), { code: "ECONNREFUSED" }))).toBe("connection_refused");
  });
});

test.each([
  ["EMFILE", true],
  ["ENFILE", true],
  ["ENOMEM", true],
  ["ECONNREFUSED", false],
  [undefined, false],
])("%s is a fault of Bridge's host: %s", (code, expected) => expect(isOwnFault(errorWith(code))).toBe(expected));
