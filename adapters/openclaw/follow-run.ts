import { setTimeout as delay } from "node:timers/promises";
import { z } from "zod";
import type { ConnectionResult } from "../shared/agent-program/agent-program.ts";
import { failure } from "../shared/process/failure.ts";
import type { ApprovalHandler } from "./approval-handler.ts";
import type { EventReader } from "./events.ts";
import type { Gateway } from "./gateway.ts";
import { GatewayError } from "./gateway-error.ts";
import type { createRunParams } from "./request.ts";
import { retryAfterReconnect } from "./retry-after-reconnect.ts";
import { parseFinalResponse, parseTaskRow, parseWaitResponse, type TaskRow, taskRowSchema } from "./run-result.ts";

/** After a crash, the gateway resumes its sessions one after the other in new runs, so a session waits until earlier runs have ended. */
const RESUME_LIMIT_MS = 240_000;
const POLL_MS = 250;
const WAIT_MS = 20_000;

/** A run that was requested from the gateway, and the consumers of its events. */
export interface FollowedRun {
  gateway: Gateway;
  key: string;
  params: ReturnType<typeof createRunParams>;
  signal: AbortSignal;
  /** Aborted when the task has ended. Cancels calls that the gateway has not answered. */
  taskEnded: AbortSignal;
  /** Ids of the task's runs, the latest last: the first run, and those that replaced it after a restart of the gateway. */
  runs: Set<string>;
  reader: EventReader;
  approvals: ApprovalHandler;
}

/** Starts a run and follows it to its end, across reconnects and restarts of the gateway. Rejects with a GatewayError. */
export async function followRun(run: FollowedRun): Promise<ConnectionResult> {
  const { gateway, params, runs, reader, approvals, taskEnded } = run;
  const runId = params.idempotencyKey;
  let isAccepted = false;
  /** The boot id of the gateway when it started or resumed the latest run. */
  let bootId: string | null = null;

  const start = async (): Promise<ConnectionResult> => {
    const onAccepted = (): void => {
      isAccepted = true;
    };
    const final = await gateway.call("agent", params, { onAccepted, signal: taskEnded });
    if (!isInFlight(final)) return parseFinalResponse(final);
    // The run had started before the connection was lost.
    isAccepted = true;
    reader.readItems();
    return await waitForRun(run, runId);
  };
  return await retryAfterReconnect(run, async (hello) => {
    const rows = bootId === null ? [] : await listRows(run);
    // A run that was not accepted is requested again. Its id prevents a second start.
    if (!isAccepted && !rows.some((row) => row.runId === runId)) {
      bootId = hello.bootId;
      return await start();
    }
    reader.readItems();
    await approvals.handlePending();
    if (hello.bootId !== bootId) {
      if (!(await adoptResumedRun(run, rows)))
        return failure("runtime_crashed", "The gateway was restarted during the run and did not resume it.");
      bootId = hello.bootId;
    }
    const [latest = runId] = [...runs].slice(-1);
    return await waitForRun(run, latest);
  });
}

/** Waits until a restarted gateway resumes the task in a new run, and adds that run to `runs`. Returns false if it does not. */
async function adoptResumedRun(run: FollowedRun, firstRows: readonly TaskRow[]): Promise<boolean> {
  const { key, runs, signal } = run;
  const deadline = performance.now() + RESUME_LIMIT_MS;
  for (let rows = firstRows; performance.now() < deadline; rows = await listRows(run)) {
    // Rows are sorted by age, the newest first. Rows after the lost run belong to earlier tasks of the session.
    const lost = rows.findIndex(({ runId }) => runId !== undefined && runs.has(runId));
    const next = rows.slice(0, Math.max(lost, 0)).find((row) => row.childSessionKey === key);
    // The gateway marks the lost run as `cancelled` after the restart, unless the run had ended before.
    const hadEnded = ["completed", "failed", "timed_out"].includes(rows[lost]?.status ?? "");
    const runId = next?.runId ?? (hadEnded ? rows[lost]?.runId : undefined);
    if (runId !== undefined) {
      // Move the id to the end: the last one is the latest.
      runs.delete(runId);
      runs.add(runId);
      return true;
    }
    await delay(POLL_MS, undefined, { signal }).catch(throwAborted);
  }
  return false;
}

/** Waits for the end of a run that an earlier connection started. */
async function waitForRun(run: FollowedRun, runId: string): Promise<ConnectionResult> {
  const { gateway, taskEnded } = run;
  for (;;) {
    const waitResult = parseWaitResponse(
      await gateway.call("agent.wait", { runId, timeoutMs: WAIT_MS }, { timeoutMs: 2 * WAIT_MS, signal: taskEnded }),
    );
    if (waitResult !== null) return await addLastMessage(run, runId, waitResult);
    // `agent.wait` returns the same response for an unknown run as for an active one, so check the task list.
    const row = (await listRows(run)).find((one) => one.runId === runId);
    const rowResult = row === undefined ? failure("runtime_crashed", "The gateway no longer knows the run.") : parseTaskRow(row);
    if (rowResult !== null) return await addLastMessage(run, runId, rowResult);
    await delay(POLL_MS);
  }
}

async function listRows({ gateway, key, taskEnded }: FollowedRun): Promise<TaskRow[]> {
  const list = await gateway.call("tasks.list", { sessionKey: key }, { signal: taskEnded });
  return z.object({ tasks: z.array(taskRowSchema) }).parse(list).tasks;
}

const historySchema = z.object({
  messages: z.array(
    z.object({
      role: z.string(),
      content: z.array(z.object({ type: z.string(), text: z.string().optional() })).catch([]),
      __openclaw: z.object({ runId: z.string().optional() }).optional(),
    }),
  ),
});

/** Adds the last message of the run from the session's history if the result contains no text. */
async function addLastMessage(
  { gateway, key, taskEnded }: FollowedRun,
  runId: string,
  ending: ConnectionResult,
): Promise<ConnectionResult> {
  if (ending.status !== "ok" || ending.output !== undefined) return ending;
  const history = historySchema.safeParse(await gateway.call("chat.history", { sessionKey: key, limit: 20 }, { signal: taskEnded })).data;
  const last = history?.messages.findLast(({ role, __openclaw }) => role === "assistant" && __openclaw?.runId === runId);
  const output = last?.content.map(({ text = "" }) => text).join("") ?? "";
  return output === "" ? ending : { ...ending, output };
}

/** Returns whether a response to `agent` reports that a run with this id is already active. */
const isInFlight = (response: unknown): boolean => z.object({ status: z.literal("in_flight") }).safeParse(response).success;

function throwAborted(): never {
  throw new GatewayError({ code: "ABORTED", message: "The task was canceled." });
}
