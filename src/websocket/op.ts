import type { z } from "zod";
import type { Scope } from "../access/principal.ts";
import { toFieldErrors } from "../requests/field-errors.ts";
import type { OpMeta, OpRequest, OpResponse } from "./op-protocol.ts";
import { invalidRequest } from "./responses.ts";

/** One op of the protocol. The behavior of a published op never changes; new behavior needs a new op. */
export interface Op {
  /** `<namespace>.<verb>`. */
  name: string;
  /** The scope that the token needs. */
  scope: Scope;
  payload: z.ZodType;
  execute(request: OpRequest): Promise<OpResponse>;
}

/** Creates an op whose handler receives the parsed payload. The handler throws BridgeError to reject a request. */
export function defineOp<Payload>(definition: {
  name: string;
  scope: Scope;
  payload: z.ZodType<Payload>;
  handle(payload: Payload, meta: OpMeta): Promise<OpResponse>;
}): Op {
  const { name, scope, payload, handle } = definition;
  return {
    name,
    scope,
    payload,
    async execute(request) {
      const parsed = payload.safeParse(request.payload);
      return parsed.success
        ? await handle(parsed.data, request.meta)
        : invalidRequest(toFieldErrors(parsed.error.issues, { schema: payload }));
    },
  };
}
