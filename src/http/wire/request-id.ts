import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";

/** The caller's `x-request-id` when it can go into headers and logs as it is, else a new one. */
export function chooseRequestId(request: Pick<IncomingMessage, "headers">): string {
  const given = request.headers["x-request-id"];
  return typeof given === "string" && /^[\x21-\x7e](?:[\x20-\x7e]{0,126}[\x21-\x7e])?$/.test(given) ? given : randomUUID();
}
