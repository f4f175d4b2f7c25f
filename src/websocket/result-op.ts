import { z } from "zod";
import { parseExactJson } from "#contract";
import { UNCOUNTED_BYTES } from "../access/client-memory.ts";
import type { Dispatcher } from "../dispatch/dispatcher.ts";
import { BridgeError } from "../errors.ts";
import { MAX_WAIT_SECONDS } from "../http/wire/prefer-header.ts";
import type { PhaseReader } from "../queries/phase-reader.ts";
import type { TaskReader, TaskSnapshot } from "../queries/task-reader.ts";
import { isFinal } from "../task.ts";
import { defineOp, type Op } from "./op.ts";
import type { OpChannel } from "./op-protocol.ts";
import { ok, runNotFound } from "./responses.ts";

/** The id of a run in a payload. */
export const runIdSchema = z.string().min(1).max(200);

/** Maximum size of a result as JSON, because a frame is built in memory. */
const MAX_RESULT_BYTES = 4 * 1024 ** 2;
/** How often a result is in memory while its response is built: its stored text, its values, and text and bytes of the frame. */
const RESULT_COPIES = 4;
/** Maximum waiting requests of one socket. Further ones are answered without a wait, so that waiting requests never block the socket. */
const MAX_WAITING = 8;

/** Options of the op. */
export interface ResultOpOptions {
  dispatcher: Pick<Dispatcher, "waitForEnd">;
  tasks: Pick<TaskReader, "find" | "findProgress" | "resultBytes">;
  phases: PhaseReader;
}

/** `agent.result`: returns the result of a run. Waits for its end if the client requests it. */
export function createResultOp({ dispatcher, tasks, phases }: ResultOpOptions): Op {
  const waiting = new WeakMap<OpChannel, number>();

  async function waitForEnd(run: Parameters<Dispatcher["waitForEnd"]>[0], seconds: number, channel: OpChannel | undefined) {
    const waitingCount = channel === undefined ? 0 : (waiting.get(channel) ?? 0);
    if (waitingCount >= MAX_WAITING) return;
    if (channel !== undefined) waiting.set(channel, waitingCount + 1);
    try {
      await dispatcher.waitForEnd(run, Math.min(seconds, MAX_WAIT_SECONDS) * 1000, channel?.signal);
    } finally {
      if (channel !== undefined) waiting.set(channel, (waiting.get(channel) ?? 1) - 1);
    }
  }

  return defineOp({
    name: "agent.result",
    scope: "read",
    payload: z.strictObject({ runId: runIdSchema, waitSeconds: z.number().min(0).optional() }),
    async handle({ runId, waitSeconds = 0 }, { tenant, channel, reserve }) {
      const run = await tasks.findProgress(tenant, runId);
      if (run === null) return runNotFound(runId);
      if (waitSeconds > 0 && !isFinal(run.state)) await waitForEnd(run, waitSeconds, channel);
      const bytes = await tasks.resultBytes(tenant, runId);
      if (bytes > MAX_RESULT_BYTES) throw createTooLargeError(runId);
      if (bytes >= UNCOUNTED_BYTES) await reserve?.(RESULT_COPIES * bytes);
      const snapshot = await tasks.find(tenant, runId);
      if (snapshot === null) return runNotFound(runId);
      // The length of a long text is known when it has been read.
      if (snapshot.readResult !== undefined) await reserve?.(RESULT_COPIES * MAX_RESULT_BYTES);
      const { state } = snapshot.task;
      const phase = isFinal(state) ? state : ((await phases.find(tenant, runId))?.phase ?? state);
      return ok({ runId, phase, result: await readResult(snapshot) });
    },
  });
}

async function readResult({ task, readResult: readParts }: TaskSnapshot): Promise<unknown> {
  if (readParts === undefined) return task.result;
  let json = "";
  for await (const part of readParts()) {
    json += part;
    if (json.length > MAX_RESULT_BYTES) throw createTooLargeError(task.taskId);
  }
  return parseExactJson(json);
}

const createTooLargeError = (runId: string): BridgeError =>
  new BridgeError("too_large", `The result is larger than ${MAX_RESULT_BYTES} bytes. Read it over HTTP: GET /api/v2/tasks/${runId}.`);
