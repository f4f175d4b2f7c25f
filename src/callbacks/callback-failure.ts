import { DESTINATION_NOT_ALLOWED } from "../network/destination-guard.ts";
import { RESPONSE_OVERHEAD_EXCEEDED } from "../network/limit-response-overhead.ts";

/** The short name of what went wrong with a POST that got no answer. Names only: the texts of such errors tell resolved addresses. */
export function classifyFailure(error: unknown): string {
  const code = codeOf(error);
  return failures.find(({ codes }) => codes.test(code))?.name ?? "network_error";
}

/** Did the POST fail for want of something of our own machine's? Then it says nothing about the receiver. */
export const isOwnFault = (error: unknown): boolean => /^(EMFILE|ENFILE|ENOMEM|ENOBUFS)$/.test(codeOf(error));

const failures = [
  { name: DESTINATION_NOT_ALLOWED, codes: new RegExp(`^${DESTINATION_NOT_ALLOWED}$`) },
  { name: "dns_error", codes: /^(ENOTFOUND|ENODATA|EAI_\w+|ESERVFAIL)$/ },
  { name: "connection_refused", codes: /^ECONNREFUSED$/ },
  { name: "connection_reset", codes: /^(ECONNRESET|ECONNABORTED|EPIPE|UND_ERR_SOCKET)$/ },
  { name: "timeout", codes: /^(ETIMEDOUT|UND_ERR_(CONNECT|HEADERS|BODY)_TIMEOUT)$/ },
  { name: "network_unreachable", codes: /^(ENETUNREACH|EHOSTUNREACH|ENETDOWN|EHOSTDOWN|EADDRNOTAVAIL)$/ },
  // OpenSSL's verdicts on a certificate have no common beginning.
  {
    name: "tls_error",
    codes: /^(EPROTO$|ERR_TLS_|ERR_SSL_|CERT_|CRL_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|INVALID_CA$|HOSTNAME_MISMATCH$|PATH_LENGTH_)/,
  },
  { name: "invalid_response", codes: new RegExp(`^(HTTPParserError$|HPE_|UND_ERR_HEADERS_OVERFLOW$|${RESPONSE_OVERHEAD_EXCEEDED}$)`) },
];

/** The error's code; undici names faults in the answer's syntax by the error's name alone. */
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return "";
  return "code" in error && typeof error.code === "string" ? error.code : error.name;
}
