import { setTimeout as delay } from "node:timers/promises";
import { z } from "zod";
import { ManagementError } from "#contract";
import type { ProbeContext } from "../../shared/agent-program/probe-program.ts";
import type { Gateway } from "../gateway.ts";
import type { CallOptions } from "../gateway-socket.ts";

/** The gateway and the settings that management operations use. */
export interface ManageContext extends ProbeContext {
  gateway: Pick<Gateway, "hello" | "hasMethod" | "call">;
  env: Readonly<Record<string, string | undefined>>;
  /** The gateway's state directory; null unless the gateway runs on this host and the directory is configured. */
  stateDir: string | null;
  /** The command line of the OpenClaw program on this host; null if not configured. */
  command: readonly string[] | null;
  /** Aborted when the caller no longer waits for the call. */
  signal?: AbortSignal;
}

const USABLE_LIMIT_MS = 30_000;
const POLL_MS = 100;

/**
 * Calls a method of the gateway and parses the response. Rejects with a ManagementError if the gateway lacks the method or the response
 * does not match the schema.
 */
export async function callGateway<T>(
  { gateway, signal }: ManageContext,
  schema: z.ZodType<T>,
  method: string,
  params: object = {},
  options: CallOptions = {},
): Promise<T> {
  if (gateway.hello !== null && !gateway.hasMethod(method))
    throw new ManagementError("not_supported", `OpenClaw ${gateway.hello.version} has no method ${method}. Update OpenClaw.`);
  const answer = schema.safeParse(await gateway.call(method, params, { ...(signal !== undefined && { signal }), ...options }));
  if (answer.success) return answer.data;
  throw new ManagementError("unavailable", `OpenClaw ${gateway.hello?.version} sent a response to ${method} in an unknown format.`);
}

/**
 * Calls a method that changes something. An abort does not cancel the call after its start, so that the next write does not find an
 * incomplete change.
 */
export async function callGatewayForWrite<T>(
  context: ManageContext,
  schema: z.ZodType<T>,
  method: string,
  params: object,
  options: CallOptions = {},
): Promise<T> {
  context.signal?.throwIfAborted();
  return await callGateway(removeSignal(context), schema, method, params, options);
}

/** Removes the signal. After its first change, a write must carry out all its steps, even if the caller no longer waits. */
export const removeSignal = ({ signal: _, ...context }: ManageContext): ManageContext => context;

/** Waits until the gateway's responses show a completed change, which takes about 100 ms. `change` describes it in the error. */
export async function waitUntilVisible({ signal }: ManageContext, isVisible: () => Promise<boolean>, change: string): Promise<void> {
  const deadline = performance.now() + USABLE_LIMIT_MS;
  while (!(await isVisible())) {
    if (performance.now() > deadline)
      throw new ManagementError("unavailable", `${change}, but the gateway did not apply it within ${USABLE_LIMIT_MS / 1000} s.`);
    await delay(POLL_MS, undefined, { signal });
  }
}

/** Accepts any response. */
export const anyResponse = z.unknown();

/** Throws `stale_write` if the etag that the client read differs from the current one; `current` is null if the resource does not exist. */
export function expectMatch(ifMatch: string | undefined, current: string | null, resource: string): void {
  if (ifMatch !== undefined && ifMatch !== current)
    throw new ManagementError("stale_write", `${resource} has changed since it was read. Read it again.`);
}
