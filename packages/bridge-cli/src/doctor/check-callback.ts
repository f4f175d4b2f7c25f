import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { type BridgeClient, BridgeClientError, type CallbackAttempt } from "bridge-client";
import { type Check, failed, ok } from "./check.ts";

/** What the check of a callback address needs. */
export interface CallbackCheckOptions {
  client: BridgeClient;
  /** The address of the receiver. */
  callbackUrl: string;
  /** The adapter of the test task. */
  provider: string;
  signal: AbortSignal;
}

/** The agent of the test task. */
const AGENT = "bridge-doctor";
/** Bridge recognizes a probe by its agent and this id. */
const probeIdPattern = /^doctor-[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/;
const POLL_MS = 200;
/** An attempt takes at most 15 s, and can wait for others. */
const ATTEMPT_LIMIT_MS = 60_000;
/** A probe of this age belongs to no check that is running. */
const ABANDONED_MS = 5 * 60_000;

/**
 * Checks that Bridge may call the address, and that the receiver accepts a real callback: dispatches a task and cancels it at once, so that
 * Bridge posts its result. Deletes the task afterwards.
 */
export async function checkCallback({ client, callbackUrl, provider, signal }: CallbackCheckOptions): Promise<Check[]> {
  const task = { taskId: `doctor-${randomUUID()}`, agentId: AGENT, provider, message: "Reply with OK.", timeoutSeconds: 60, callbackUrl };
  const { problem } = await client.checkDispatch(task, { signal });
  if (problem !== null) return [explainRejection(callbackUrl, problem)];
  await removeEarlierProbes(client, signal);
  await client.dispatch(task, { signal });
  try {
    await client.cancel(task.taskId, { signal });
    const attempt = await awaitAttempt(client, task.taskId, signal);
    return [attempt === null ? reportSilence(callbackUrl) : explainAttempt(callbackUrl, attempt)];
  } finally {
    await removeProbe(client, task.taskId);
  }
}

/** Removes a probe. Bridge makes one attempt for its callback, so it can be removed as soon as that has ended. */
async function removeProbe(client: BridgeClient, taskId: string): Promise<void> {
  await client.deleteTask(taskId).catch((error: unknown) => {
    // The next check removes what this one could not.
    if (!(error instanceof BridgeClientError)) throw error;
  });
}

/** Removes probes that an earlier check has left behind, because it was killed or its attempt took too long. Others may use its agent. */
async function removeEarlierProbes(client: BridgeClient, signal: AbortSignal): Promise<void> {
  const createdBefore = new Date(Date.now() - ABANDONED_MS).toISOString();
  for await (const { taskId } of client.listTasks({ agentId: AGENT, createdBefore }, { signal }))
    if (probeIdPattern.test(taskId)) await removeProbe(client, taskId);
}

/** Resolves to the first attempt of the callback, or to null if there is none within the limit. */
async function awaitAttempt(client: BridgeClient, taskId: string, signal: AbortSignal): Promise<CallbackAttempt | null> {
  // A task has a callback only when it has ended.
  await client.waitForTask(taskId, { signal });
  const deadline = performance.now() + ATTEMPT_LIMIT_MS;
  while (performance.now() < deadline) {
    const [attempt] = (await client.callbacks.get(taskId, { signal })).history;
    if (attempt !== undefined) return attempt;
    await delay(POLL_MS, undefined, { signal });
  }
  return null;
}

const reportSilence = (callbackUrl: string): Check =>
  failed(
    "callback",
    `Bridge posted nothing to ${callbackUrl} within ${ATTEMPT_LIMIT_MS / 1000} s.`,
    "Wait until Bridge has posted the callbacks that are due: brg callbacks --state pending",
  );

function explainRejection(callbackUrl: string, { code, detail }: { code: string; detail: string }): Check {
  if (code !== "callback_url_refused")
    return failed("callback", `A dispatch with this callback is rejected: ${detail}`, "brg dispatch --dry-run shows more.");
  const host = URL.parse(callbackUrl)?.hostname.replaceAll(/[[\]]/g, "");
  const canBePermitted = detail.includes("BRIDGE_CALLBACK_ALLOW") && host !== undefined;
  return failed(
    "callback",
    `Bridge refuses to call ${callbackUrl}: ${detail}`,
    canBePermitted ? `Add the host to BRIDGE_CALLBACK_ALLOW, and restart Bridge: BRIDGE_CALLBACK_ALLOW=${host}` : "Use another address.",
  );
}

const signatureRemedy =
  "Set BRIDGE_CALLBACK_SECRETS, without which Bridge signs nothing. Use one of them as the secret of the receiver, and let it verify the " +
  "unchanged bytes of the body.";

/** What to do about each error of an attempt. */
const attemptRemedies: Readonly<Record<string, string>> = {
  destination_not_allowed: "Add the host or its network to BRIDGE_CALLBACK_ALLOW, and restart Bridge.",
  dns_error: "Correct the name, or make the host of Bridge resolve it: docs/operations.md#host-names",
  connection_refused: "Start the receiver, or correct the port. On this machine: brg listen --forward-to <url>",
  timeout: "Let the receiver answer within 15 s, and check that no firewall drops the connection from the host of Bridge.",
  http_401: signatureRemedy,
  http_403: signatureRemedy,
  http_404: "Correct the path of the address: the receiver has no such route.",
  redirect: "Use the address to which the receiver redirects. Bridge follows no redirects.",
};

function explainAttempt(callbackUrl: string, { error, status, durationMs, response }: CallbackAttempt): Check {
  if (error === null) return ok("callback", `${callbackUrl} accepted a test callback with HTTP ${status} after ${durationMs} ms.`);
  const answer = response === null || response === "" ? "" : ` It answered: ${response}`;
  return failed(
    "callback",
    `${callbackUrl} did not accept a test callback: ${error}.${answer}`,
    attemptRemedies[error] ?? (status === null ? "docs/troubleshooting.md#a-callback-does-not-arrive" : "Read the log of the receiver."),
  );
}
