import type { DispatchRequest, ExecutionResult } from "./wire.ts";

/** A run to start over the WebSocket: a dispatch whose fields `agentId` and `message` have other names. */
export type RunRequest = Omit<DispatchRequest, "agentId" | "message"> & {
  agent: string;
  /** The work. Required, unless `bridgeInput` or `responderInput` is given. */
  input?: string | undefined;
};

/** The phase of a run; `completed`, `failed` and `cancelled` are final. */
export type RunPhase = "queued" | "running" | "tool-call" | "waiting-approval" | "completed" | "failed" | "cancelled";

/** The current phase of a run. */
export interface RunStatus {
  runId: string;
  phase: RunPhase;
  /** Present while a limit on running tasks of the tenant or the agent prevents the start. */
  waitingOn?: "quota" | undefined;
}

/** The result of an ended run. */
export interface RunResult {
  runId: string;
  phase: RunPhase;
  result: ExecutionResult;
}

/** Selects a tool call that waits for approval. Pass the `data` of the event `tool.approval_requested`. */
export interface WaitingCall {
  toolCallId: string;
  /** Selects one of several calls that have the same `toolCallId`, which is unique only within its run. */
  approvalId?: string | undefined;
}
