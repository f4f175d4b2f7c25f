import path from "node:path";
import { z } from "zod";
import { ManagementError } from "#contract";
import { GatewayError } from "../gateway-error.ts";
import { readDefaultAgent } from "./agent-records.ts";
import { isInside, isSameDirectory, readInside } from "./host-files.ts";
import { callGateway, type ManageContext } from "./manage-context.ts";

const missingSchema = z.object({
  bins: z.array(z.string()).default([]),
  anyBins: z.array(z.string()).default([]),
  env: z.array(z.string()).default([]),
  config: z.array(z.string()).default([]),
  os: z.array(z.string()).default([]),
});
const rowSchema = z.looseObject({
  name: z.string(),
  source: z.string(),
  filePath: z.string(),
  baseDir: z.string(),
  missing: missingSchema.prefault({}),
  install: z.array(z.object({ id: z.string(), label: z.string().default(""), bins: z.array(z.string()).default([]) })).default([]),
});
const rowsSchema = z.object({ workspaceDir: z.string(), managedSkillsDir: z.string(), skills: z.array(rowSchema) });
const contentSchema = z.object({ file: z.object({ content: z.string() }) });

const notFoundSchema = z.object({ type: z.literal("workspace_file_not_found") });

/** A row of `skills.status`, the gateway's list of skills. */
export type SkillRow = z.infer<typeof rowSchema>;

/** The skills of the default agent, and the directories of skills. */
export interface SkillRows {
  agentId: string;
  /** Skills of this agent only. */
  workspaceSkillsDir: string;
  /** Skills of all agents. */
  sharedSkillsDir: string;
  workspaceDir: string;
  rows: SkillRow[];
}

/** Reads the skills of the default agent. */
export async function readSkillRows(context: ManageContext): Promise<SkillRows> {
  const agentId = await readDefaultAgent(context);
  const { workspaceDir, managedSkillsDir, skills } = await callGateway(context, rowsSchema, "skills.status", { agentId });
  return { agentId, workspaceDir, workspaceSkillsDir: path.join(workspaceDir, "skills"), sharedSkillsDir: managedSkillsDir, rows: skills };
}

/**
 * Returns the directory in which every write to a skill must stay after links are resolved; null for a skill of OpenClaw or a plugin,
 * which is read-only.
 */
export function findEditableRoot({ workspaceDir, workspaceSkillsDir, sharedSkillsDir }: SkillRows, { baseDir }: SkillRow): string | null {
  // Agents can write in their workspaces, and could replace the directory of skills by a link.
  if (isInside(workspaceSkillsDir, baseDir)) return workspaceDir;
  return isInside(sharedSkillsDir, baseDir) ? sharedSkillsDir : null;
}

/** Reads the SKILL.md of a skill, from the gateway if it is in the workspace, else from the host. */
export async function readSkillContent(context: ManageContext, rows: SkillRows, row: SkillRow): Promise<string | null> {
  if (isInside(rows.workspaceDir, row.filePath)) {
    const file = path.relative(rows.workspaceDir, row.filePath);
    try {
      return (await callGateway(context, contentSchema, "agents.workspace.get", { agentId: rows.agentId, path: file })).file.content;
    } catch (error) {
      // The file was removed after the gateway listed it.
      if (error instanceof GatewayError && notFoundSchema.safeParse(error.details).success) return null;
      throw error;
    }
  }
  await expectSameHost(context, rows, `The skill ${row.name} is outside the agent's workspace, and OpenClaw has no method that reads it`);
  return readInside(row.baseDir, row.filePath);
}

/** Throws `not_supported` unless Bridge runs on the gateway's host. `reason` states what the gateway's API does not offer. */
export async function expectSameHost(context: ManageContext, { sharedSkillsDir }: SkillRows, reason: string): Promise<void> {
  if (context.stateDir === null)
    throw new ManagementError("not_supported", `${reason}. Run Bridge on the gateway's host and set BRIDGE_OPENCLAW_STATE_DIR.`);
  if (!(await isSameDirectory(path.join(context.stateDir, "skills"), sharedSkillsDir)))
    throw new ManagementError("not_supported", `${reason}, and BRIDGE_OPENCLAW_STATE_DIR is not the state directory of this gateway.`);
}
