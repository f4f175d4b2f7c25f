import type { IncomingMessage, ServerResponse } from "node:http";
import helmet from "helmet";

/**
 * Returns the headers that helmet sets for an API. They are the same for every response, so they are computed once.
 * `/docs` adds its own content security policy.
 */
export function createSecurityHeaders(): Readonly<Record<string, string>> {
  const headers: Record<string, string> = {};
  const response = {
    setHeader: (name: string, value: unknown) => {
      headers[name.toLowerCase()] = String(value);
    },
    removeHeader: (name: string) => delete headers[name.toLowerCase()],
  };
  helmet({ contentSecurityPolicy: false })({} as IncomingMessage, response as unknown as ServerResponse, () => {});
  return headers;
}
