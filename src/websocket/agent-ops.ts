import { z } from "zod";
import type { Dispatcher } from "../dispatch/dispatcher.ts";
import type { ReceiveDispatch } from "../dispatch/receive-dispatch.ts";
import { BridgeError, type FieldError } from "../errors.ts";
import type { BridgeChannel, BridgeMeta } from "./bridge-protocol.ts";
import type { RunFollower } from "./follow-run.ts";
import { defineOp, type Op } from "./op.ts";
import { ok, runNotFound } from "./responses.ts";
import { createResultOp, type ResultDependencies } from "./result-op.ts";
import { runIdSchema } from "./run-id.ts";

/** What the ops on runs need. A run is a task: `runId` is its `taskId`. */
export interface AgentDependencies extends ResultDependencies {
  receiveDispatch: ReceiveDispatch;
  dispatcher: Pick<Dispatcher, "cancel" | "waitForEnd">;
  follower: RunFollower;
  /** Throws a BridgeError while no run is started. */
  checkOpen(): void;
}

/** Fields of a dispatch that have a name of their own here. */
const names = { agent: "agentId", input: "message" } as const;

const runPayload = z.strictObject({ runId: runIdSchema });

/** `agent.run`, `agent.cancel`, `agent.status`, `agent.result` and `agent.events`. */
export function createAgentOps({ receiveDispatch, dispatcher, tasks, phases, follower, checkOpen }: AgentDependencies): Op[] {
  return [
    defineOp({
      name: "agent.run",
      scope: "dispatch",
      // Its fields are those of a dispatch, read by the one parser of dispatches.
      payload: z.custom<Record<string, unknown>>(),
      async handle({ events = false, ...payload }, meta) {
        checkOpen();
        const { tenant } = meta;
        const dispatch = toDispatch(payload);
        if (typeof events !== "boolean") throw invalidField("events", "must be a boolean");
        const channel = events ? openChannel(meta, "events") : null;
        if (channel !== null) follower.checkRoom(tenant);
        try {
          const { task } = await receiveDispatch(dispatch, { tenant, traceparent: null });
          if (channel !== null) follower.follow(task, { channel, after: 0 });
          return ok({ runId: task.taskId, status: "started" });
        } catch (error) {
          throw error instanceof BridgeError ? inOwnNames(error) : error;
        }
      },
    }),

    defineOp({
      name: "agent.cancel",
      scope: "dispatch",
      payload: runPayload,
      async handle({ runId }, { tenant }) {
        try {
          return ok({ cancelled: (await dispatcher.cancel(tenant, runId)).changed });
        } catch (error) {
          if (error instanceof BridgeError && error.code === "not_found") return runNotFound(runId);
          throw error;
        }
      },
    }),

    defineOp({
      name: "agent.status",
      scope: "read",
      payload: runPayload,
      async handle({ runId }, { tenant }) {
        const found = await phases.find(tenant, runId);
        if (found === null) return runNotFound(runId);
        return ok({ runId, phase: found.phase, ...(found.isHeldByQuota && { waitingOn: "quota" }) });
      },
    }),

    createResultOp({ dispatcher, tasks, phases }),

    defineOp({
      name: "agent.events",
      scope: "read",
      payload: z.strictObject({ runId: runIdSchema, after: z.string().max(200).optional() }),
      async handle({ runId, after }, meta) {
        const place = follower.readPlace("after", after);
        const run = await tasks.findProgress(meta.tenant, runId);
        if (run === null) return runNotFound(runId);
        const channel = openChannel(meta, "runId");
        follower.checkRoom(meta.tenant);
        follower.follow(run, { channel, after: place });
        return ok({ runId, following: true });
      },
    }),
  ];
}

/** Events are for tokens that may read them, whatever op asks for them. */
function openChannel({ channel, principal }: BridgeMeta, field: string): BridgeChannel {
  if (!principal.scopes.has("read")) throw new BridgeError("scope_missing", 'This token lacks the scope "read", which events need.');
  if (channel === undefined) throw invalidField(field, "cannot be followed over this transport");
  return channel;
}

const invalidField = (path: string, message: string): BridgeError =>
  new BridgeError("invalid_request", "The payload is not valid.", { errors: [{ path, message }] });

function toDispatch(payload: Record<string, unknown>): Record<string, unknown> {
  const { agent, input, ...rest } = payload;
  const errors = Object.entries(names)
    .filter(([, name]) => Object.hasOwn(rest, name))
    .map(([own, name]): FieldError => ({ path: name, message: `is called ${own} here` }));
  if (errors.length > 0) throw new BridgeError("invalid_request", "The payload is not valid.", { errors });
  return { ...rest, agentId: agent, message: input };
}

/** The refusal with its fields named as the client has written them. */
function inOwnNames({ code, message, errors, retryAfterSeconds, queue, cause }: BridgeError): BridgeError {
  const own = new Map<string | undefined, string>(Object.entries(names).map(([name, dispatched]) => [dispatched, name]));
  const renamed = errors.map(({ path, message }) => {
    const [field, ...rest] = path.split(".");
    return { path: [own.get(field) ?? field, ...rest].join("."), message };
  });
  return new BridgeError(code, message, { errors: renamed, queue, cause, ...(retryAfterSeconds !== null && { retryAfterSeconds }) });
}
