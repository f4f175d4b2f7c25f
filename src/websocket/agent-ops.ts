import { z } from "zod";
import { describeMissingScope } from "../access/principal.ts";
import type { Dispatcher } from "../dispatch/dispatcher.ts";
import type { ReceiveDispatch } from "../dispatch/receive-dispatch.ts";
import { BridgeError, type FieldError } from "../errors.ts";
import { noTraceContext } from "../task.ts";
import { defineOp, type Op } from "./op.ts";
import type { OpChannel, OpMeta } from "./op-protocol.ts";
import { ok, runNotFound } from "./responses.ts";
import { createResultOp, type ResultOpOptions, runIdSchema } from "./result-op.ts";
import type { RunFollower } from "./run-follower.ts";

/** Options of the ops on runs. A run is a task; `runId` is its `taskId`. */
export interface AgentOpOptions extends ResultOpOptions {
  receiveDispatch: ReceiveDispatch;
  dispatcher: Pick<Dispatcher, "cancel" | "waitForEnd">;
  follower: RunFollower;
  /** Throws BridgeError `draining` or `overloaded` while Bridge accepts no runs. */
  checkCanStart(): void;
}

/** Fields of `agent.run` that have another name in a dispatch. */
const DISPATCH_NAMES = { agent: "agentId", input: "message" } as const;

const runPayload = z.strictObject({ runId: runIdSchema });

/** `agent.run`, `agent.cancel`, `agent.status`, `agent.result` and `agent.events`. */
export function createAgentOps({ receiveDispatch, dispatcher, tasks, phases, follower, checkCanStart }: AgentOpOptions): Op[] {
  return [
    defineOp({
      name: "agent.run",
      scope: "dispatch",
      // `receiveDispatch` validates the payload, whose fields are those of a dispatch.
      payload: z.custom<Record<string, unknown>>(),
      async handle(payload, meta) {
        checkCanStart();
        const { tenant, principal } = meta;
        const { dispatch, events } = splitPayload(payload);
        if (typeof events !== "boolean") throw createFieldError("events", "must be a boolean");
        const channel = events ? requireChannel(meta, "events") : null;
        if (channel !== null) follower.checkCanFollow(tenant);
        try {
          const { task } = await receiveDispatch(dispatch, { tenant, tokenName: principal.name, ...noTraceContext });
          if (channel !== null) follower.follow(task, { channel, after: null });
          return ok({ runId: task.taskId, status: "started" });
        } catch (error) {
          throw error instanceof BridgeError ? renameFields(error) : error;
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
        const position = await follower.parsePosition("after", after);
        const run = await tasks.findProgress(meta.tenant, runId);
        if (run === null) return runNotFound(runId);
        const channel = requireChannel(meta, "runId");
        follower.checkCanFollow(meta.tenant);
        const hasEnded = await follower.hasEnded(run, position);
        follower.follow(run, { channel, after: position });
        return ok({ runId, following: true, ...(hasEnded && { ended: true }) });
      },
    }),
  ];
}

/** Returns the channel for events. Throws BridgeError if the token lacks the scope `read` or the transport cannot push. */
function requireChannel({ channel, principal }: OpMeta, field: string): OpChannel {
  if (!principal.scopes.has("read")) throw new BridgeError("scope_missing", describeMissingScope("Following events", "read", principal));
  if (channel === undefined) throw createFieldError(field, "cannot be followed over this transport, which does not support events");
  return channel;
}

const createFieldError = (path: string, message: string): BridgeError =>
  new BridgeError("invalid_request", "The payload is not valid.", { errors: [{ path, message }] });

/** Turns the payload into a dispatch, in place: a copy of many fields takes longer than parsing them. */
function splitPayload(payload: Record<string, unknown>): { dispatch: Record<string, unknown>; events: unknown } {
  const names = Object.entries(DISPATCH_NAMES);
  const errors = names
    .filter(([, name]) => Object.hasOwn(payload, name))
    .map(([field, name]): FieldError => ({ path: name, message: `is named ${field} in this protocol` }));
  if (errors.length > 0) throw new BridgeError("invalid_request", "The payload is not valid.", { errors });
  const { events = false } = payload;
  delete payload["events"];
  for (const [field, name] of names) {
    payload[name] = payload[field];
    delete payload[field];
  }
  return { dispatch: payload, events };
}

/** Renames the fields of a dispatch error to the names in the payload. */
function renameFields({ code, message, errors, retryAfterSeconds, queue, cause }: BridgeError): BridgeError {
  const names = new Map<string | undefined, string>(Object.entries(DISPATCH_NAMES).map(([name, dispatchName]) => [dispatchName, name]));
  const renamed = errors.map(({ path, message }) => {
    const [field, ...rest] = path.split(".");
    return { path: [names.get(field) ?? field, ...rest].join("."), message };
  });
  return new BridgeError(code, message, { errors: renamed, queue, cause, ...(retryAfterSeconds !== null && { retryAfterSeconds }) });
}
