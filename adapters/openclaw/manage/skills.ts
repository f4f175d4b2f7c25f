import path from "node:path";
import { ManagementError, type SkillEntry, type SkillRecord } from "#contract";
import { createTextEtag } from "./etag.ts";
import { removeDirectory, writeInside } from "./host-files.ts";
import { expectMatch, type ManageContext, waitUntilVisible } from "./manage-context.ts";
import { checkSkillDocument } from "./skill-document.ts";
import { expectSameHost, findEditableRoot, readSkillContent, readSkillRows, type SkillRow, type SkillRows } from "./skill-rows.ts";
import { uploadSkill } from "./upload-skill.ts";

const SKILL_FILE = "SKILL.md";

/** Lists all skills, including those of OpenClaw and its plugins. */
export async function listSkills(context: ManageContext): Promise<SkillEntry[]> {
  const { rows } = await readSkillRows(context);
  return rows.map(({ filePath: _file, baseDir: _directory, ...entry }) => entry);
}

/** Reads the SKILL.md of a skill; null if it does not exist. */
export async function readSkill(context: ManageContext, name: string): Promise<SkillRecord | null> {
  const rows = await readSkillRows(context);
  const row = findRow(rows, name);
  const content = row === undefined ? null : await readSkillContent(context, rows, row);
  return content === null ? null : { name, content, etag: createTextEtag(content) };
}

/**
 * Writes the SKILL.md of a skill. On the gateway's host, a new skill is installed for all agents; from another host, for the default agent.
 * A skill of OpenClaw with the same name is hidden, not changed.
 */
export async function writeSkill(context: ManageContext, name: string, content: string, ifMatch?: string): Promise<SkillRecord> {
  checkSkillDocument(name, content);
  const rows = await readSkillRows(context);
  const row = findRow(rows, name);
  if (ifMatch !== undefined) {
    const current = row === undefined ? null : await readSkillContent(context, rows, row);
    expectMatch(ifMatch, current === null ? null : createTextEtag(current), `The skill ${name}`);
  }
  context.signal?.throwIfAborted();
  if (context.stateDir === null) await uploadSkill(context, rows, name, content);
  else await writeOnHost(context, rows, { name, content, row });
  await waitUntilVisible(context, async () => (await readSkill(context, name))?.content === content, `The skill ${name} is written`);
  return { name, content, etag: createTextEtag(content) };
}

/** Deletes a skill and its directory. Returns false if it does not exist. */
export async function deleteSkill(context: ManageContext, name: string, ifMatch?: string): Promise<boolean> {
  const rows = await readSkillRows(context);
  const row = findRow(rows, name);
  if (row === undefined) return false;
  const root = findEditableRoot(rows, row);
  if (root === null)
    throw new ManagementError(
      "not_supported",
      `The skill ${name} belongs to OpenClaw or a plugin and cannot be deleted. Disable it in the gateway's configuration.`,
    );
  await expectSameHost(context, rows, "OpenClaw has no method that deletes a skill");
  if (ifMatch !== undefined) expectMatch(ifMatch, createTextEtag((await readSkillContent(context, rows, row)) ?? ""), `The skill ${name}`);
  context.signal?.throwIfAborted();
  await removeDirectory(root, row.baseDir);
  const isGone = async (): Promise<boolean> => findRow(await readSkillRows(context), name)?.baseDir !== row.baseDir;
  await waitUntilVisible(context, isGone, `The skill ${name} is deleted`);
  return true;
}

/** Writes an editable skill in its directory and keeps its other files. Writes any other skill to the directory that all agents share. */
async function writeOnHost(
  context: ManageContext,
  rows: SkillRows,
  { name, content, row }: { name: string; content: string; row: SkillRow | undefined },
): Promise<void> {
  await expectSameHost(context, rows, "Bridge writes skills on the gateway's host");
  const root = row === undefined ? null : findEditableRoot(rows, row);
  if (row === undefined || root === null)
    await writeInside(rows.sharedSkillsDir, path.join(rows.sharedSkillsDir, name), SKILL_FILE, content);
  else await writeInside(root, row.baseDir, SKILL_FILE, content);
}

const findRow = ({ rows }: SkillRows, name: string): SkillRow | undefined => rows.find((row) => row.name === name);
