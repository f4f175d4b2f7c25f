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
import type { AdapterRegistry } from "../../adapters/adapter-registry.ts";
import { describeOfflineAdapter } from "../../dispatch/admission.ts";
import type { Dispatcher } from "../../dispatch/dispatcher.ts";
import { BridgeError, type ErrorCode } from "../../errors.ts";
import { INTERNAL_ERROR } from "../wire/problem.ts";
import { describeWrite, isWrite } from "./audit-writes.ts";

/** The managers that an adapter can be, by the word that stands for each on the wire. */
export interface Managers {
  runtime: RuntimeManager;
  agents: AgentManager;
  skills: SkillManager;
  system: SystemManager;
}

/** What calls to managers go through. */
export interface ManagerCallOptions {
  registry: Pick<AdapterRegistry, "get" | "list" | "suspect">;
  dispatcher: Pick<Dispatcher, "draining">;
  logger: Pick<Logger, "info">;
  /** Aborted when the server closes. */
  closing: AbortSignal;
  /** How long one request may take; there for tests. */
  limitMs?: number;
}

/**
 * Calls a manager of the provider that the request names; every expected failure is a BridgeError. The signal is aborted at the
 * time limit, when the server closes and, for a read, when its client disconnects. A write continues without its client, because the client could not
 * know which steps were carried out.
 */
export type CallManager = <Kind extends keyof Managers, Result>(
  request: ProviderRequest,
  kind: Kind,
  act: (manager: Managers[Kind], signal: AbortSignal) => Promise<Result>,
) => Promise<Result>;

type ProviderRequest = FastifyRequest<{ Params: { provider: string } }>;

const LIMIT_MS = 60_000;
/** As for a dispatch: by then it has been looked again. */
const OFFLINE_RETRY_SECONDS = 30;

const guards: { [Kind in keyof Managers]: (adapter: unknown) => adapter is Managers[Kind] } = {
  runtime: isRuntimeManager,
  agents: isAgentManager,
  skills: isSkillManager,
  system: isSystemManager,
};

/** What a provider's managers are called on the wire, without the runtime itself. */
export const managerKinds = ["agents", "skills", "system"] as const;
export const managersOf = (adapter: unknown): (typeof managerKinds)[number][] => managerKinds.filter((kind) => guards[kind](adapter));

const codes: Readonly<Record<ManagementErrorCode, ErrorCode>> = {
  invalid_request: "invalid_request",
  not_found: "not_found",
  not_supported: "not_supported",
  conflict: "invalid_state",
  stale_write: "stale_write",
  unavailable: "adapter_offline",
};

/** Makes the one way from a route to a manager: is there one, is its runtime up, is it in time, and what does its refusal mean. */
export function createManagerCalls({ registry, dispatcher, logger, closing, limitMs = LIMIT_MS }: ManagerCallOptions): CallManager {
  function find<Kind extends keyof Managers>(provider: string, kind: Kind): Managers[Kind] {
    const entry = registry.get(provider);
    if (entry === undefined) throw new BridgeError("not_found", `There is no provider of that name. ${listLoaded(registry)}`);
    const { adapter, health } = entry;
    if (adapter !== null && !guards[kind](adapter)) throw new BridgeError("not_supported", describeLack(provider, kind, adapter));
    const isUp = health.status !== "offline" && health.checkedAt !== null;
    if (adapter !== null && isUp) return adapter as unknown as Managers[Kind];
    registry.suspect(provider);
    throw new BridgeError("adapter_offline", describeOfflineAdapter(provider), { retryAfterSeconds: OFFLINE_RETRY_SECONDS });
  }

  function explain(error: unknown, provider: string): BridgeError {
    if (isManagementError(error) && error.code === "unavailable") registry.suspect(provider);
    return toRefusal(error);
  }

  return async (request, kind, act) => {
    const { provider } = request.params;
    if (isWrite(request) && dispatcher.draining) throw new BridgeError("draining", "Bridge is stopping and changes nothing any more.");
    const manager = find(provider, kind);
    const stop = new AbortController();
    const stopped = new Promise<never>((_, reject) => stop.signal.addEventListener("abort", () => reject(stop.signal.reason)));
    const work = (async () => act(manager, stop.signal))();
    const limit = setTimeout(() => {
      tellLate(request, work);
      stop.abort(new BridgeError("adapter_offline", tooLateText(provider, limitMs, isWrite(request))));
    }, limitMs);
    const onClosing = (): void => stop.abort(new BridgeError("draining", "Bridge is stopping."));
    const onGone = (): void => stop.abort(new BridgeError("adapter_offline", "The client disconnected before the runtime answered."));
    closing.addEventListener("abort", onClosing, { once: true });
    if (!isWrite(request)) request.raw.socket.once("close", onGone);
    try {
      return await Promise.race([work, stopped]);
    } catch (error) {
      throw explain(error, provider);
    } finally {
      clearTimeout(limit);
      closing.removeEventListener("abort", onClosing);
      request.raw.socket.off("close", onGone);
    }
  };

  /** Who was told that the outcome of a write is not known finds it in the log. */
  function tellLate(request: ProviderRequest, work: Promise<unknown>): void {
    const tell = (outcome: string): void => {
      if (isWrite(request)) logger.info({ ...describeWrite(request), outcome }, "gateway write ended late");
    };
    work.then(
      () => tell("done"),
      (error: unknown) => tell(toRefusal(error).code),
    );
  }
}

function toRefusal(error: unknown): BridgeError {
  if (error instanceof BridgeError) return error;
  if (isManagementError(error)) return new BridgeError(codes[error.code], error.message);
  // Whatever it looks like, a status of HTTP too: it is the adapter's, and says nothing about the request.
  const cause = error instanceof Error ? error : new Error(`The adapter rejected with ${inspect(error)}.`);
  return new BridgeError("internal_error", INTERNAL_ERROR, { cause });
}

function listLoaded(registry: Pick<AdapterRegistry, "list">): string {
  return `Loaded: ${registry
    .list()
    .map(({ provider }) => provider)
    .join(", ")}.`;
}

const lacks: Readonly<Record<keyof Managers, string>> = {
  runtime: "does not report its runtime",
  agents: "manages no agents",
  skills: "manages no skills",
  system: "does not manage its runtime as a whole",
};

function describeLack(provider: string, kind: keyof Managers, adapter: unknown): string {
  const managed = managersOf(adapter);
  return `The adapter ${provider} ${lacks[kind]}. ${managed.length === 0 ? "It manages nothing." : `It manages: ${managed.join(", ")}.`}`;
}

function tooLateText(provider: string, limitMs: number, isChange: boolean): string {
  const unknown = isChange ? " Whether it has done what was asked is not known: read before you try again." : "";
  return `The runtime behind ${provider} did not answer within ${limitMs / 1000} s.${unknown}`;
}
