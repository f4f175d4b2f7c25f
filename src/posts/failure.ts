import { DESTINATION_NOT_ALLOWED } from "../network/destination-guard.ts";
import { RESPONSE_OVERHEAD_EXCEEDED } from "../network/limit-response-overhead.ts";

/**
 * Classifies the failure of a POST without a response. Returns a short name, because the messages of such errors contain resolved
 * addresses.
 */
export function classifyFailure(error: unknown): string {
  const code = codeOf(error);
  return failures.find(({ codes }) => codes.test(code))?.name ?? "network_error";
}

/** Whether the POST failed because Bridge's host lacks a resource. Such a failure does not count against the receiver. */
export const isOwnFault = (error: unknown): boolean => /^(EMFILE|ENFILE|ENOMEM|ENOBUFS)$/.test(codeOf(error));

const failures = [
  { name: DESTINATION_NOT_ALLOWED, codes: new RegExp(`^${DESTINATION_NOT_ALLOWED}$`) },
  { name: "dns_error", codes: /^(ENOTFOUND|ENODATA|EAI_\w+|ESERVFAIL)$/ },
  { name: "connection_refused", codes: /^ECONNREFUSED$/ },
  { name: "connection_reset", codes: /^(ECONNRESET|ECONNABORTED|EPIPE|UND_ERR_SOCKET)$/ },
  { name: "timeout", codes: /^(ETIMEDOUT|UND_ERR_(CONNECT|HEADERS|BODY)_TIMEOUT)$/ },
  { name: "network_unreachable", codes: /^(ENETUNREACH|EHOSTUNREACH|ENETDOWN|EHOSTDOWN|EADDRNOTAVAIL)$/ },
  // OpenSSL's certificate errors have no common prefix.
  {
    name: "tls_error",
    codes: /^(EPROTO$|ERR_TLS_|ERR_SSL_|CERT_|CRL_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|INVALID_CA$|HOSTNAME_MISMATCH$|PATH_LENGTH_)/,
  },
  {
    name: "invalid_response",
    codes: new RegExp(`^(HTTPParserError$|HPE_|UND_ERR_(HEADERS_OVERFLOW|RES_CONTENT_LENGTH_MISMATCH)$|${RESPONSE_OVERHEAD_EXCEEDED}$)`),
  },
];

/** The error's code, or its name: undici's HTTP syntax errors have no code. */
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return "";
  return "code" in error && typeof error.code === "string" ? error.code : error.name;
}
