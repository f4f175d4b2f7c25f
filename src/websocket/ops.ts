import { z } from "zod";
import type { Approvals } from "../approvals/approvals.ts";
import { toIso } from "../http/wire/timestamps.ts";
import type { WorkspaceList } from "../workspaces/list-workspaces.ts";
import { type AgentOpOptions, createAgentOps } from "./agent-ops.ts";
import { createApproveOp } from "./approve-op.ts";
import { defineOp, type Op } from "./op.ts";
import { ok } from "./responses.ts";

/** Options of the ops. */
export interface OpOptions extends AgentOpOptions {
  approvals: Pick<Approvals, "findPending" | "decide">;
  workspaces: Pick<WorkspaceList, "listWorkspaces">;
}

/** Creates all ops of the protocol. Add a new op here. */
export function createOps({ approvals, workspaces, ...agents }: OpOptions): Op[] {
  return [
    ...createAgentOps(agents),
    createApproveOp(approvals),
    defineOp({
      name: "workspace.list",
      scope: "read",
      payload: z.strictObject({}),
      async handle(_payload, { tenant, channel }) {
        const found = await workspaces.listWorkspaces(tenant, channel?.signal);
        return ok({ workspaces: found.map(({ updatedAt, ...workspace }) => ({ ...workspace, updatedAt: toIso(updatedAt) })) });
      },
    }),
  ];
}
