import { setTimeout as delay } from "node:timers/promises";
import { z } from "zod";
import { ManagementError } from "#contract";
import type { ProbeContext } from "../../shared/agent-program/probe-program.ts";
import type { Gateway } from "../gateway.ts";
import type { CallOptions } from "../gateway-socket.ts";

/** What the managers of a gateway work with. */
export interface ManageContext extends ProbeContext {
  gateway: Pick<Gateway, "hello" | "hasMethod" | "call">;
  env: Readonly<Record<string, string | undefined>>;
  /** The gateway's state directory; null unless the gateway runs on the same host and the operator has said where. */
  stateDir: string | null;
  /** The command line of OpenClaw's own program on the same host; null: not configured. */
  command: readonly string[] | null;
  /** Aborted when the caller no longer waits for the call. */
  signal?: AbortSignal;
}

const USABLE_LIMIT_MS = 30_000;
const POLL_MS = 100;

/** Asks the gateway, and reads of its answer what Bridge knows; the rest stays where it is. */
export async function callGateway<T>(
  { gateway, signal }: ManageContext,
  schema: z.ZodType<T>,
  method: string,
  params: object = {},
  options: CallOptions = {},
): Promise<T> {
  if (gateway.hello !== null && !gateway.hasMethod(method))
    throw new ManagementError("not_supported", `OpenClaw ${gateway.hello.version} has no method ${method}; a newer version is needed.`);
  const answer = schema.safeParse(await gateway.call(method, params, { ...(signal !== undefined && { signal }), ...options }));
  if (answer.success) return answer.data;
  throw new ManagementError("unavailable", `OpenClaw ${gateway.hello?.version} answers ${method} in a way that Bridge does not know.`);
}

/** Asks the gateway for a change. A change that has begun is not canceled, because the next write would find it incomplete. */
export async function callGatewayForWrite<T>(
  context: ManageContext,
  schema: z.ZodType<T>,
  method: string,
  params: object,
  options: CallOptions = {},
): Promise<T> {
  context.signal?.throwIfAborted();
  return await callGateway(withoutSignal(context), schema, method, params, options);
}

/** For the steps of a write after its first change: they must all be carried out, even if the caller no longer waits. */
export const withoutSignal = ({ signal: _, ...context }: ManageContext): ManageContext => context;

/** Waits for what the gateway has done to show in what it tells, which takes it some 100 ms. */
export async function waitUntilVisible({ signal }: ManageContext, isShown: () => Promise<boolean>, what: string): Promise<void> {
  const deadline = performance.now() + USABLE_LIMIT_MS;
  while (!(await isShown())) {
    if (performance.now() > deadline)
      throw new ManagementError("unavailable", `${what}, but after ${USABLE_LIMIT_MS / 1000} s the gateway still does not show it.`);
    await delay(POLL_MS, undefined, { signal });
  }
}

/** Nothing of the answer is looked at. */
export const anyResponse = z.unknown();

/** Rejects a write whose writer has read something else than there is now; `current` is null where there is nothing. */
export function expectMatch(ifMatch: string | undefined, current: string | null, what: string): void {
  if (ifMatch !== undefined && ifMatch !== current)
    throw new ManagementError("stale_write", `${what} has changed since it was read; read it again.`);
}
