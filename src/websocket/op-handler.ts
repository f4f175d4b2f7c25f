import type { Logger } from "pino";
import { describeMissingScope } from "../access/principal.ts";
import { BridgeError } from "../errors.ts";
import type { RequestRates } from "../http/wire/request-rates.ts";
import type { Op } from "./op.ts";
import type { OpHandler } from "./op-protocol.ts";
import { operationNotFound, toErrorResponse } from "./responses.ts";

/** Options of the handler. */
interface OpHandlerOptions {
  ops: readonly Op[];
  /** Counts the ops that change something; null if they have no limit. */
  requestRates?: Pick<RequestRates, "check"> | null;
  logger: Pick<Logger, "error">;
}

/** Creates the handler that passes each request to its op. It does not depend on the transport. */
export function createOpHandler({ ops, requestRates = null, logger }: OpHandlerOptions): OpHandler {
  const table = new Map(ops.map((op) => [op.name, op]));
  return {
    async handle(request) {
      const { op: name, meta } = request;
      const op = table.get(name);
      if (op === undefined) return operationNotFound(name);
      if (!meta.principal.scopes.has(op.scope))
        return toErrorResponse(new BridgeError("scope_missing", describeMissingScope(name, op.scope, meta.principal)));
      try {
        if (op.scope !== "read") requestRates?.check(meta.principal.name);
        return await op.execute(request);
      } catch (error) {
        if (!(error instanceof BridgeError) || error.code === "internal_error") throw error;
        if (error.cause !== undefined) logger.error({ err: error, op: name, requestId: meta.requestId }, "op rejected");
        return toErrorResponse(error);
      }
    },
  };
}
