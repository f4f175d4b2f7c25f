import { setImmediate as nextTurn } from "node:timers/promises";
import type { Profile } from "#contract";
import { BridgeError } from "../errors.ts";
import type { Metrics } from "../metrics.ts";
import type { AvailableAdapters } from "../registry/available-adapters.ts";
import type { ParseDispatch, ParsedDispatch } from "../requests/parse-dispatch.ts";
import type { Task, TraceContext } from "../task.ts";
import type { Dispatcher } from "./dispatcher.ts";

/** The sender of a dispatch, and the headers that belong to it. */
export interface DispatchSender extends TraceContext {
  tenant: string;
  /** Name of its token. */
  tokenName?: string | undefined;
  /** The `Idempotency-Key` header, unchanged. */
  idempotencyKey?: string | undefined;
}

/** Parses the body of a dispatch and admits it as a task. HTTP and WebSocket both call it. Throws BridgeError. */
export type ReceiveDispatch = (body: unknown, sender: DispatchSender) => Promise<{ task: Task; replayed: boolean }>;

interface ReceiveDispatchOptions {
  dispatcher: Pick<Dispatcher, "admitTask">;
  adapters: Pick<AvailableAdapters, "isLoaded">;
  metrics: Pick<Metrics, "dispatches">;
  parseDispatch: ParseDispatch;
  defaultProfile: Profile;
}

/** In UTF-16 units. Parsing a dispatch of this length can take tens of milliseconds, and storing it takes as long again. */
const LARGE_LENGTH = 1024 * 1024;

/** Creates the function that receives dispatches and counts them by provider and outcome. */
export function createReceiveDispatch({
  dispatcher,
  adapters,
  metrics,
  parseDispatch,
  defaultProfile,
}: ReceiveDispatchOptions): ReceiveDispatch {
  return async (body, { idempotencyKey, ...caller }) => {
    let parsed: ParsedDispatch | undefined;
    try {
      parsed = parseDispatch(body, { defaultProfile, idempotencyKey });
      if (parsed.canonicalLength > LARGE_LENGTH) await nextTurn();
      const admitted = await dispatcher.admitTask(parsed, caller);
      metrics.dispatches.inc({ provider: admitted.task.provider, outcome: admitted.replayed ? "replayed" : "accepted" });
      return admitted;
    } catch (error) {
      // Only names of loaded adapters become labels, because callers could send any number of other names.
      const named = parsed?.provider ?? "";
      const provider = adapters.isLoaded(named) ? named : "unknown";
      metrics.dispatches.inc({ provider, outcome: error instanceof BridgeError ? error.code : "internal_error" });
      throw error instanceof BridgeError ? withSentFieldName(error, body) : error;
    }
  };
}

/** Reports a fault of `outputStrategy.schema` as one of `outputSchema` if the caller sent that alias. */
export function withSentFieldName(error: BridgeError, body: unknown): BridgeError {
  const { outputSchema, outputStrategy } = (body ?? {}) as { outputSchema?: unknown; outputStrategy?: unknown };
  if (outputSchema === undefined || outputStrategy !== undefined) return error;
  if (!error.errors.some(({ path }) => path === "outputStrategy.schema")) return error;
  const errors = error.errors.map((fault) => (fault.path === "outputStrategy.schema" ? { ...fault, path: "outputSchema" } : fault));
  return new BridgeError(error.code, error.message, { errors });
}
