import { setTimeout as delay } from "node:timers/promises";
import { z } from "zod";
import type { ConnectionResult } from "../shared/agent-program/agent-program.ts";
import type { ApprovalHandler } from "./approval-handler.ts";
import type { EventReader } from "./events.ts";
import type { Gateway } from "./gateway.ts";
import { GatewayError } from "./gateway-error.ts";
import type { runParams } from "./request.ts";
import { retryAfterReconnect } from "./retry-after-reconnect.ts";
import { failure, parseFinalResponse, parseTaskRow, parseWaitResponse, type TaskRow, taskRowSchema } from "./run-result.ts";

/** A gateway that was killed goes on with its sessions one after the other, under new runs: each waits for the end of those before it. */
const RESUME_LIMIT_MS = 240_000;
const POLL_MS = 250;
const WAIT_MS = 20_000;

/** A run that has been asked for, and who listens to it. */
export interface FollowedRun {
  gateway: Gateway;
  key: string;
  params: ReturnType<typeof runParams>;
  signal: AbortSignal;
  /** Aborted when nobody follows it any longer: after the task's end, also where the gateway has left a question without an answer. */
  over: AbortSignal;
  /** The ids under which the task runs; a run that the gateway has put in its place joins them. */
  runs: Set<string>;
  reader: EventReader;
  approvals: ApprovalHandler;
}

/** Starts a run and follows it to its end, over broken connections and restarts of the gateway. Rejects with a GatewayError. */
export async function followRun(run: FollowedRun): Promise<ConnectionResult> {
  const { gateway, params, runs, reader, approvals, over } = run;
  const runId = params.idempotencyKey;
  let isAccepted = false;
  /** The start of the gateway in which the latest of the runs works. */
  let bootId: string | null = null;

  const start = async (): Promise<ConnectionResult> => {
    const onAccepted = (): void => {
      isAccepted = true;
    };
    const final = await gateway.call("agent", params, { onAccepted, signal: over });
    if (!isInFlight(final)) return parseFinalResponse(final);
    // It had begun before the connection broke.
    isAccepted = true;
    reader.rejoin();
    return await waitForRun(run, runId);
  };
  return await retryAfterReconnect(run, async (hello) => {
    const rows = bootId === null ? [] : await listRows(run);
    // What has not begun may be started: its id keeps it from beginning twice.
    if (!isAccepted && !rows.some((row) => row.runId === runId)) {
      bootId = hello.bootId;
      return await start();
    }
    reader.rejoin();
    await approvals.catchUp();
    if (hello.bootId !== bootId) {
      if (!(await adopt(run, rows)))
        return failure("runtime_crashed", "The gateway was restarted in the middle of the run, and has not gone on with it.");
      bootId = hello.bootId;
    }
    const [latest = runId] = [...runs].slice(-1);
    return await waitForRun(run, latest);
  });
}

/** Takes the run that a restarted gateway has begun in the place of the lost one for the task's own; false: there is none. */
async function adopt(run: FollowedRun, found: readonly TaskRow[]): Promise<boolean> {
  const { key, runs, signal } = run;
  const deadline = performance.now() + RESUME_LIMIT_MS;
  for (let rows = found; performance.now() < deadline; rows = await listRows(run)) {
    // The newest comes first; what is older than the lost run belongs to earlier tasks of the session.
    const lost = rows.findIndex(({ runId }) => runId !== undefined && runs.has(runId));
    const next = rows.slice(0, Math.max(lost, 0)).find((row) => row.childSessionKey === key);
    // It is cancelled sooner or later, unless it had come to its end.
    const hadEnded = ["completed", "failed", "timed_out"].includes(rows[lost]?.status ?? "");
    const runId = next?.runId ?? (hadEnded ? rows[lost]?.runId : undefined);
    if (runId !== undefined) {
      // The last one is the latest.
      runs.delete(runId);
      runs.add(runId);
      return true;
    }
    await delay(POLL_MS, undefined, { signal }).catch(aborted);
  }
  return false;
}

/** Waits for the end of a run that another connection has begun. */
async function waitForRun(run: FollowedRun, runId: string): Promise<ConnectionResult> {
  const { gateway, over } = run;
  for (;;) {
    const ending = parseWaitResponse(
      await gateway.call("agent.wait", { runId, timeoutMs: WAIT_MS }, { timeoutMs: 2 * WAIT_MS, signal: over }),
    );
    if (ending !== null) return await withLastMessage(run, runId, ending);
    // Of a run that it has forgotten the gateway says no more than of one that goes on.
    const row = (await listRows(run)).find((one) => one.runId === runId);
    const ended = row === undefined ? failure("runtime_crashed", "The gateway has lost the run.") : parseTaskRow(row);
    if (ended !== null) return await withLastMessage(run, runId, ended);
    await delay(POLL_MS);
  }
}

async function listRows({ gateway, key, over }: FollowedRun): Promise<TaskRow[]> {
  const list = await gateway.call("tasks.list", { sessionKey: key }, { signal: over });
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

/** What a run has said last, as the session keeps it, where its end does not tell. */
async function withLastMessage({ gateway, key, over }: FollowedRun, runId: string, ending: ConnectionResult): Promise<ConnectionResult> {
  if (ending.status !== "ok" || ending.output !== undefined) return ending;
  const history = historySchema.safeParse(await gateway.call("chat.history", { sessionKey: key, limit: 20 }, { signal: over })).data;
  const last = history?.messages.findLast(({ role, __openclaw }) => role === "assistant" && __openclaw?.runId === runId);
  const output = last?.content.map(({ text = "" }) => text).join("") ?? "";
  return output === "" ? ending : { ...ending, output };
}

/** So the gateway answers to an id that it works on already. */
const isInFlight = (answer: unknown): boolean => z.object({ status: z.literal("in_flight") }).safeParse(answer).success;

function aborted(): never {
  throw new GatewayError({ code: "ABORTED", message: "The task was stopped." });
}
