import type { Op } from "../../src/websocket/op.ts";
import { createOps, type OpOptions } from "../../src/websocket/ops.ts";

/** Creates all ops with fakes for the dependencies that are not given. */
export function createIdleOps(dependencies: Partial<OpOptions> = {}): Op[] {
  const never = () => Promise.reject(new Error("The test executes no op."));
  return createOps({
    receiveDispatch: never,
    dispatcher: { cancel: never, waitForEnd: never },
    tasks: { find: never, findProgress: never, resultBytes: never },
    follower: { checkCanFollow() {}, hasEnded: never, follow() {}, parsePosition: async () => null },
    phases: { find: never },
    approvals: { findPending: never, decide: never },
    workspaces: { listWorkspaces: never },
    checkCanStart() {},
    ...dependencies,
  });
}
