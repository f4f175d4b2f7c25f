import { z } from "zod";
import type { AcceptDispatch } from "../dispatch/accept-dispatch.ts";
import type { Dispatcher } from "../dispatch/dispatcher.ts";
import type { PhaseReader } from "../dispatch/phase-reader.ts";
import { BridgeError, type FieldError } from "../errors.ts";
import type { BridgeResponse } from "./bridge-protocol.ts";
import { defineOp, type Op } from "./op.ts";
import { ok } from "./responses.ts";

/** What the ops on runs need. A run is a task: `runId` is its `taskId`. */
export interface AgentDependencies {
  acceptDispatch: AcceptDispatch;
  dispatcher: Pick<Dispatcher, "cancel">;
  phases: PhaseReader;
  /** Throws a BridgeError while no run is started. */
  checkOpen(): void;
}

/** Fields of a dispatch that have a name of their own here. */
const names = { agent: "agentId", input: "message" } as const;

const runPayload = z.strictObject({ runId: z.string().min(1).max(200) });

/** `agent.run`, `agent.cancel` and `agent.status`. */
export function createAgentOps({ acceptDispatch, dispatcher, phases, checkOpen }: AgentDependencies): Op[] {
  return [
    defineOp({
      name: "agent.run",
      scope: "dispatch",
      // Its fields are those of a dispatch, read by the one parser of dispatches.
      payload: z.custom<Record<string, unknown>>(),
      async handle(payload, { tenant }) {
        checkOpen();
        const dispatch = toDispatch(payload);
        try {
          const { task } = await acceptDispatch(dispatch, { tenant, traceparent: null });
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
  ];
}

const runNotFound = (runId: string): BridgeResponse => ({ status: 404, payload: { runId, error: "run-not-found" } });

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
