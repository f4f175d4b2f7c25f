import { setImmediate as nextTurn } from "node:timers/promises";
import type { Profile } from "#contract";
import type { AdapterRegistry } from "../adapters/adapter-registry.ts";
import { BridgeError } from "../errors.ts";
import type { Metrics } from "../metrics.ts";
import { type ParsedDispatch, parseDispatch } from "../requests/parse-dispatch.ts";
import type { Task } from "../task.ts";
import type { Dispatcher } from "./dispatcher.ts";

/** Who dispatches, and what came with the body. */
export interface DispatchSender {
  tenant: string;
  traceparent: string | null;
  /** The `Idempotency-Key` header, as it came. */
  idempotencyKey?: string | undefined;
}

/** Reads a dispatch as it came over the wire and accepts it; every door's way in. Throws BridgeError. */
export type ReceiveDispatch = (body: unknown, sender: DispatchSender) => Promise<{ task: Task; replayed: boolean }>;

/** What it works with. */
export interface ReceiveDispatchOptions {
  dispatcher: Pick<Dispatcher, "accept">;
  registry: Pick<AdapterRegistry, "get">;
  metrics: Pick<Metrics, "dispatches">;
  defaultProfile: Profile;
}

/** A dispatch of this length can take tens of milliseconds to read, and as long to store. */
const LARGE_LENGTH = 1024 * 1024;

/** Counts each dispatch by what became of it. */
export function createReceiveDispatch({ dispatcher, registry, metrics, defaultProfile }: ReceiveDispatchOptions): ReceiveDispatch {
  return async (body, { tenant, traceparent, idempotencyKey }) => {
    let parsed: ParsedDispatch | undefined;
    try {
      parsed = parseDispatch(body, { defaultProfile, idempotencyKey });
      if (parsed.canonicalLength > LARGE_LENGTH) await nextTurn();
      const accepted = await dispatcher.accept(parsed, { tenant, traceparent });
      metrics.dispatches.inc({ provider: accepted.task.provider, outcome: accepted.replayed ? "replayed" : "accepted" });
      return accepted;
    } catch (error) {
      // A name that no adapter has is only what somebody has written: as a label it could grow without end.
      const provider = registry.get(parsed?.provider ?? "")?.provider ?? "unknown";
      metrics.dispatches.inc({ provider, outcome: error instanceof BridgeError ? error.code : "internal_error" });
      throw error instanceof BridgeError ? nameSentField(error, body) : error;
    }
  };
}

/** Reports a fault of `outputSchema` under this name, if the caller sent that alias. */
function nameSentField(error: BridgeError, body: unknown): BridgeError {
  const { outputSchema, outputStrategy } = (body ?? {}) as { outputSchema?: unknown; outputStrategy?: unknown };
  if (outputSchema === undefined || outputStrategy !== undefined) return error;
  if (!error.errors.some(({ path }) => path === "outputStrategy.schema")) return error;
  const errors = error.errors.map((fault) => (fault.path === "outputStrategy.schema" ? { ...fault, path: "outputSchema" } : fault));
  return new BridgeError(error.code, error.message, { errors });
}
