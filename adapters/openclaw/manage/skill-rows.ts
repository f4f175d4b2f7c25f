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

const goneSchema = z.object({ type: z.literal("workspace_file_not_found") });

/** A skill as the gateway lists it. */
export type SkillRow = z.infer<typeof rowSchema>;

/** The skills that the agent sees which stands for the gateway. */
export interface SkillRows {
  agentId: string;
  /** Of that agent alone, and of all agents. */
  workspaceSkillsDir: string;
  sharedSkillsDir: string;
  workspaceDir: string;
  rows: SkillRow[];
}

/** Asks for them. */
export async function readSkillRows(context: ManageContext): Promise<SkillRows> {
  const agentId = await readDefaultAgent(context);
  const { workspaceDir, managedSkillsDir, skills } = await callGateway(context, rowsSchema, "skills.status", { agentId });
  return { agentId, workspaceDir, workspaceSkillsDir: path.join(workspaceDir, "skills"), sharedSkillsDir: managedSkillsDir, rows: skills };
}

/** What a skill must not lead out of, links resolved; null: it came with OpenClaw or a plugin, and is not ours to change. */
export function editableRootOf({ workspaceDir, workspaceSkillsDir, sharedSkillsDir }: SkillRows, { baseDir }: SkillRow): string | null {
  // Agents write in their workspaces, and could put a link in the place of the whole directory.
  if (isInside(workspaceSkillsDir, baseDir)) return workspaceDir;
  return isInside(sharedSkillsDir, baseDir) ? sharedSkillsDir : null;
}

/** The SKILL.md of a skill: through the gateway where it lies in the workspace, else from the host. */
export async function readSkillContent(context: ManageContext, rows: SkillRows, row: SkillRow): Promise<string | null> {
  if (isInside(rows.workspaceDir, row.filePath)) {
    const file = path.relative(rows.workspaceDir, row.filePath);
    try {
      return (await callGateway(context, contentSchema, "agents.workspace.get", { agentId: rows.agentId, path: file })).file.content;
    } catch (error) {
      // It went after it was listed.
      if (error instanceof GatewayError && goneSchema.safeParse(error.details).success) return null;
      throw error;
    }
  }
  await expectSameHost(context, rows, `The skill ${row.name} lies outside of the agent's workspace, where OpenClaw lets nobody read`);
  return readInside(row.baseDir, row.filePath);
}

/** Goes on only on the gateway's own host; `why` says what the gateway has no call for. */
export async function expectSameHost(context: ManageContext, { sharedSkillsDir }: SkillRows, why: string): Promise<void> {
  if (context.stateDir === null)
    throw new ManagementError(
      "not_supported",
      `${why}. Bridge does it on the gateway's own host, where BRIDGE_OPENCLAW_STATE_DIR says that it is.`,
    );
  if (!(await isSameDirectory(path.join(context.stateDir, "skills"), sharedSkillsDir)))
    throw new ManagementError(
      "not_supported",
      `${why}, and BRIDGE_OPENCLAW_STATE_DIR is not the state directory that this gateway works with.`,
    );
}
