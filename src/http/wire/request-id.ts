import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";

/** Returns the `X-Request-Id` of the request if it is safe in headers and logs; otherwise a new id. */
export function chooseRequestId(request: Pick<IncomingMessage, "headers">): string {
  const header = request.headers["x-request-id"];
  return typeof header === "string" && /^[\x21-\x7e](?:[\x20-\x7e]{0,126}[\x21-\x7e])?$/.test(header) ? header : randomUUID();
}
