import type { z } from "zod";
import type { Scope } from "../access/principal.ts";
import { toFieldErrors } from "../requests/field-errors.ts";
import type { BridgeMeta, BridgeRequest, BridgeResponse } from "./bridge-protocol.ts";
import { invalidRequest } from "./responses.ts";

/** One row of the catalogue. Once published, what it means does not change: new behaviour is a new op. */
export interface Op {
  /** `<namespace>.<verb>`. */
  name: string;
  /** What the caller's token must carry. */
  scope: Scope;
  payload: z.ZodType;
  answer(request: BridgeRequest): Promise<BridgeResponse>;
}

/** Makes a row: its handler gets the payload as the schema says it is. A BridgeError that it throws is a refusal. */
export function defineOp<Payload>(row: {
  name: string;
  scope: Scope;
  payload: z.ZodType<Payload>;
  handle(payload: Payload, meta: BridgeMeta): Promise<BridgeResponse>;
}): Op {
  const { name, scope, payload, handle } = row;
  return {
    name,
    scope,
    payload,
    async answer(request) {
      const parsed = payload.safeParse(request.payload);
      return parsed.success ? await handle(parsed.data, request.meta) : invalidRequest(toFieldErrors(parsed.error.issues));
    },
  };
}
