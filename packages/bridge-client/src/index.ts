/** Client of Bridge, for Node 22.12 and newer and for browsers. */

export type { BridgeClient, BridgeClientOptions, CallOptions, DecisionOptions } from "./bridge-client.ts";
export { createBridgeClient } from "./bridge-client.ts";
export { BridgeClientError, type FieldError } from "./bridge-client-error.ts";
export { type BridgeSocket, type BridgeSocketOptions, connectBridge } from "./bridge-socket.ts";
export type { BridgeEvent, EventFilter, EventOptions, EventType, Gap } from "./events.ts";
export { parseExactJson } from "./parse-exact-json.ts";
export type { RunPhase, RunRequest, RunResult, RunStatus, WaitingCall } from "./runs.ts";
export { explainTaskError, type TaskErrorAdvice, type TaskErrorRemedy, taskErrors } from "./task-errors.ts";
export type { CallbackBody, WebhookBody } from "./verify-callback.ts";
export { verifyCallback, verifyWebhook } from "./verify-callback.ts";
export type * from "./wire.ts";
