import path from "node:path";
import { ManagementError, type SkillEntry, type SkillRecord } from "#contract";
import { textEtag } from "./etag.ts";
import { removeDirectory, writeInside } from "./host-files.ts";
import { expectMatch, type ManageContext, waitUntilVisible } from "./manage-context.ts";
import { checkSkillDocument } from "./skill-document.ts";
import { editableRootOf, expectSameHost, readSkillContent, readSkillRows, type SkillRow, type SkillRows } from "./skill-rows.ts";
import { uploadSkill } from "./upload-skill.ts";

const FILE = "SKILL.md";

/** All skills, those that came with OpenClaw and its plugins, too. */
export async function listSkills(context: ManageContext): Promise<SkillEntry[]> {
  const { rows } = await readSkillRows(context);
  return rows.map(({ filePath: _file, baseDir: _directory, ...told }) => told);
}

/** The SKILL.md of a skill; null: there is none. */
export async function readSkill(context: ManageContext, name: string): Promise<SkillRecord | null> {
  const rows = await readSkillRows(context);
  const row = rowOf(rows, name);
  const content = row === undefined ? null : await readSkillContent(context, rows, row);
  return content === null ? null : { name, content, etag: textEtag(content) };
}

/**
 * Writes the SKILL.md of a skill: on the gateway's own host, a new one for all agents; from elsewhere, for its default agent. One of the same name
 * that came with OpenClaw stays, and is hidden.
 */
export async function writeSkill(context: ManageContext, name: string, content: string, ifMatch?: string): Promise<SkillRecord> {
  checkSkillDocument(name, content);
  const rows = await readSkillRows(context);
  const row = rowOf(rows, name);
  if (ifMatch !== undefined) {
    const current = row === undefined ? null : await readSkillContent(context, rows, row);
    expectMatch(ifMatch, current === null ? null : textEtag(current), `The skill ${name}`);
  }
  context.signal?.throwIfAborted();
  if (context.stateDir === null) await uploadSkill(context, rows, name, content);
  else await writeOnHost(context, rows, { name, content, row });
  await waitUntilVisible(context, async () => (await readSkill(context, name))?.content === content, `The skill ${name} is written`);
  return { name, content, etag: textEtag(content) };
}

/** Deletes a skill with all that lies in its directory. False: there is none. */
export async function deleteSkill(context: ManageContext, name: string, ifMatch?: string): Promise<boolean> {
  const rows = await readSkillRows(context);
  const row = rowOf(rows, name);
  if (row === undefined) return false;
  const root = editableRootOf(rows, row);
  if (root === null)
    throw new ManagementError(
      "not_supported",
      `The skill ${name} came with OpenClaw or one of its plugins; it is not deleted, but turned off at the gateway.`,
    );
  await expectSameHost(context, rows, "OpenClaw has no call that deletes a skill");
  if (ifMatch !== undefined) expectMatch(ifMatch, textEtag((await readSkillContent(context, rows, row)) ?? ""), `The skill ${name}`);
  context.signal?.throwIfAborted();
  await removeDirectory(root, row.baseDir);
  const isGone = async (): Promise<boolean> => rowOf(await readSkillRows(context), name)?.baseDir !== row.baseDir;
  await waitUntilVisible(context, isGone, `The skill ${name} is deleted`);
  return true;
}

/** Where a skill is that Bridge may change it is changed, its other files kept; else it becomes one of all agents. */
async function writeOnHost(
  context: ManageContext,
  rows: SkillRows,
  { name, content, row }: { name: string; content: string; row: SkillRow | undefined },
): Promise<void> {
  await expectSameHost(context, rows, "Bridge writes skills on the gateway's own host");
  const root = row === undefined ? null : editableRootOf(rows, row);
  if (row === undefined || root === null) await writeInside(rows.sharedSkillsDir, path.join(rows.sharedSkillsDir, name), FILE, content);
  else await writeInside(root, row.baseDir, FILE, content);
}

const rowOf = ({ rows }: SkillRows, name: string): SkillRow | undefined => rows.find((row) => row.name === name);
