import type { Op } from "../../src/websocket/op.ts";
import { createOps } from "../../src/websocket/ops.ts";

/** The catalogue, with nothing behind it. */
export function createIdleOps(): Op[] {
  const never = () => Promise.reject(new Error("No op is meant to be carried out."));
  return createOps({
    acceptDispatch: never,
    dispatcher: { cancel: never },
    tasks: { find: never },
    toolsInUse: { has: () => false },
    approvals: { findPending: never, decide: never },
    workspaces: { listWorkspaces: never },
    checkOpen() {},
  });
}
