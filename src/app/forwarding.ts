import type { onRequestAsyncHookHandler } from "fastify";

/** The hooks that pass requests to other nodes, by what the requests concern. */
export interface Forwarding {
  taskFiles: onRequestAsyncHookHandler;
  workspaces: onRequestAsyncHookHandler;
  runtimes: onRequestAsyncHookHandler;
  close(): Promise<void>;
}

const stay = async (): Promise<void> => {};

/** Passes on nothing, because there are no other nodes. */
export const noForwarding: Forwarding = { taskFiles: stay, workspaces: stay, runtimes: stay, close: stay };
