import { inspect } from "node:util";
import type { FastifyRequest } from "fastify";
import type { Logger } from "pino";
import {
  type AgentManager,
  isAgentManager,
  isManagementError,
  isRuntimeManager,
  isSkillManager,
  isSystemManager,
  type ManagementErrorCode,
  type RuntimeManager,
  type SkillManager,
  type SystemManager,
} from "#contract";
import type { Dispatcher } from "../../dispatch/dispatcher.ts";
import { BridgeError, type ErrorCode } from "../../errors.ts";
import type { AdapterRegistry } from "../../registry/adapter-registry.ts";
import { describeOfflineAdapter } from "../../registry/available-adapters.ts";
import { INTERNAL_ERROR } from "../wire/problem.ts";
import { describeWrite, isWrite } from "./audit-writes.ts";

/** The manager interfaces that an adapter can implement, by their names in the API. */
export interface Managers {
  runtime: RuntimeManager;
  agents: AgentManager;
  skills: SkillManager;
  system: SystemManager;
}

/** Options of `createCallManager`. */
export interface CallManagerOptions {
  registry: Pick<AdapterRegistry, "get" | "list" | "suspect">;
  dispatcher: Pick<Dispatcher, "draining">;
  logger: Logger;
  /** Aborted when the server closes. */
  closing: AbortSignal;
  /** Time limit of one request, for tests. */
  limitMs?: number;
}

/**
 * Calls a manager of the provider that the request names; every expected failure is a BridgeError. The signal is
 * aborted at the time limit, when the server closes and, for a read, when its client disconnects. A write continues
 * without its client, because the client could not know which steps were carried out.
 */
export type CallManager = <Kind extends keyof Managers, Result>(
  request: ProviderRequest,
  kind: Kind,
  act: (manager: Managers[Kind], signal: AbortSignal) => Promise<Result>,
) => Promise<Result>;

type ProviderRequest = FastifyRequest<{ Params: { provider: string } }>;

const LIMIT_MS = 60_000;
/** `Retry-After` in seconds, as for a dispatch. Bridge checks the adapter again within this time. */
const OFFLINE_RETRY_SECONDS = 30;

const guards: { [Kind in keyof Managers]: (adapter: unknown) => adapter is Managers[Kind] } = {
  runtime: isRuntimeManager,
  agents: isAgentManager,
  skills: isSkillManager,
  system: isSystemManager,
};

/** Names of the managers in the API, except `runtime`. */
export const managerKinds = ["agents", "skills", "system"] as const;
/** Returns the managers that an adapter implements. */
export const listManagers = (adapter: unknown): (typeof managerKinds)[number][] => managerKinds.filter((kind) => guards[kind](adapter));

const codes: Readonly<Record<ManagementErrorCode, ErrorCode>> = {
  invalid_request: "invalid_request",
  not_found: "not_found",
  not_supported: "not_supported",
  conflict: "invalid_state",
  stale_write: "stale_write",
  unavailable: "adapter_offline",
};

/**
 * Creates the function that all routes use to call managers. It finds the manager, checks its runtime, limits the time,
 * and converts errors.
 */
export function createCallManager({ registry, dispatcher, logger, closing, limitMs = LIMIT_MS }: CallManagerOptions): CallManager {
  function find<Kind extends keyof Managers>(provider: string, kind: Kind): Managers[Kind] {
    const entry = registry.get(provider);
    if (entry === undefined) throw new BridgeError("not_found", `There is no such provider. ${listLoaded(registry)}`);
    const { adapter, health } = entry;
    if (adapter !== null && !guards[kind](adapter)) throw new BridgeError("not_supported", explainMissingManager(provider, kind, adapter));
    const isUp = health.status !== "offline" && health.checkedAt !== null;
    if (adapter !== null && isUp) return adapter as unknown as Managers[Kind];
    registry.suspect(provider);
    throw new BridgeError("adapter_offline", describeOfflineAdapter(provider), { retryAfterSeconds: OFFLINE_RETRY_SECONDS });
  }

  return async (request, kind, act) => {
    const { provider } = request.params;
    if (isWrite(request) && dispatcher.draining) throw new BridgeError("draining", "Bridge is stopping and accepts no more changes.");
    const manager = find(provider, kind);
    const stop = new AbortController();
    const stopped = new Promise<never>((_, reject) => stop.signal.addEventListener("abort", () => reject(stop.signal.reason)));
    const result = (async () => act(manager, stop.signal))();
    const limit = setTimeout(() => {
      logLateOutcome(request, result);
      stop.abort(new BridgeError("adapter_offline", formatTimeout(provider, limitMs, isWrite(request))));
    }, limitMs);
    const onClosing = (): void => stop.abort(new BridgeError("draining", "Bridge is stopping."));
    const onDisconnect = (): void => stop.abort(new BridgeError("adapter_offline", "The client disconnected before the runtime answered."));
    closing.addEventListener("abort", onClosing, { once: true });
    if (!isWrite(request)) request.raw.socket.once("close", onDisconnect);
    try {
      return await Promise.race([result, stopped]);
    } catch (error) {
      if (isManagementError(error) && error.code === "unavailable") registry.suspect(provider);
      throw toBridgeError(error);
    } finally {
      clearTimeout(limit);
      closing.removeEventListener("abort", onClosing);
      request.raw.socket.off("close", onDisconnect);
    }
  };

  /** Logs how a write ended after its time limit, because its client received an error with an unknown outcome. */
  function logLateOutcome(request: ProviderRequest, result: Promise<unknown>): void {
    const log = (outcome: string): void => {
      if (isWrite(request)) logger.info({ ...describeWrite(request), outcome }, "gateway write ended late");
    };
    result.then(
      () => log("done"),
      (error: unknown) => log(toBridgeError(error).code),
    );
  }
}

function toBridgeError(error: unknown): BridgeError {
  if (error instanceof BridgeError) return error;
  if (isManagementError(error)) return new BridgeError(codes[error.code], error.message);
  // An HTTP status in the error belongs to the adapter's own calls, not to this request.
  const cause = error instanceof Error ? error : new Error(`The adapter rejected with ${inspect(error)}.`);
  return new BridgeError("internal_error", INTERNAL_ERROR, { cause });
}

function listLoaded(registry: Pick<AdapterRegistry, "list">): string {
  return `Loaded: ${registry
    .list()
    .map(({ provider }) => provider)
    .join(", ")}.`;
}

const missingManagers: Readonly<Record<keyof Managers, string>> = {
  runtime: "does not report its runtime",
  agents: "manages no agents",
  skills: "manages no skills",
  system: "does not manage its runtime as a whole",
};

function explainMissingManager(provider: string, kind: keyof Managers, adapter: unknown): string {
  const managed = listManagers(adapter);
  return `The adapter ${provider} ${missingManagers[kind]}. ${managed.length === 0 ? "It supports no management." : `It manages: ${managed.join(", ")}.`}`;
}

function formatTimeout(provider: string, limitMs: number, isChange: boolean): string {
  const hint = isChange ? " The outcome of the write is unknown. Read the current state before you try again." : "";
  return `The runtime behind ${provider} did not answer within ${limitMs / 1000} s.${hint}`;
}
