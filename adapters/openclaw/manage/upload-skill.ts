import path from "node:path";
import { z } from "zod";
import { ManagementError } from "#contract";
import { GatewayError } from "../gateway-error.ts";
import { createTextEtag } from "./etag.ts";
import { isInside } from "./host-files.ts";
import { anyResponse, callGateway, callGatewayForWrite, type ManageContext } from "./manage-context.ts";
import type { SkillRows } from "./skill-rows.ts";
import { createZipFile } from "./zip-file.ts";

const INSTALL_LIMIT_MS = 45_000;
const uploadSchema = z.object({ uploadId: z.string() });
const directorySchema = z.object({ entries: z.array(z.object({ name: z.string() })) });

/** Uploads a skill to the workspace of the default agent. The gateway replaces the whole directory of the skill. */
export async function uploadSkill(context: ManageContext, rows: SkillRows, name: string, content: string): Promise<void> {
  const row = rows.rows.find((one) => one.name === name);
  if (row !== undefined) {
    const slug = path.basename(row.baseDir);
    if (isInside(rows.sharedSkillsDir, row.baseDir) || (isInside(rows.workspaceSkillsDir, row.baseDir) && slug !== name))
      throw new ManagementError(
        "not_supported",
        `OpenClaw has no method that writes the skill ${name} in its directory. Run Bridge on the gateway's host and set BRIDGE_OPENCLAW_STATE_DIR.`,
      );
    if (isInside(rows.workspaceSkillsDir, row.baseDir)) await expectNoOtherFiles(context, rows, name);
  }
  const archive = createZipFile("SKILL.md", Buffer.from(content));
  const sha256 = createTextEtag(archive);
  const upload = { slug: name, sha256, force: true };
  try {
    const { uploadId } = await callGatewayForWrite(context, uploadSchema, "skills.upload.begin", {
      kind: "skill-archive",
      sizeBytes: archive.length,
      ...upload,
    });
    await callGatewayForWrite(context, anyResponse, "skills.upload.chunk", { uploadId, offset: 0, dataBase64: archive.toString("base64") });
    await callGatewayForWrite(context, anyResponse, "skills.upload.commit", { uploadId });
    const install = { agentId: rows.agentId, source: "upload", uploadId, ...upload };
    await callGatewayForWrite(context, anyResponse, "skills.install", install, { timeoutMs: INSTALL_LIMIT_MS });
  } catch (error) {
    if (error instanceof GatewayError && error.message.includes("skills.install.allowUploadedArchives"))
      throw new ManagementError(
        "not_supported",
        "The gateway does not accept uploaded skills. Set skills.install.allowUploadedArchives to true in its configuration, or set BRIDGE_OPENCLAW_STATE_DIR if it runs on the same host.",
        { cause: error },
      );
    throw error;
  }
}

/** Rejects the upload if the skill has other files, which the gateway would delete. */
async function expectNoOtherFiles(
  context: ManageContext,
  { agentId, workspaceDir, workspaceSkillsDir }: SkillRows,
  name: string,
): Promise<void> {
  const directory = path.relative(workspaceDir, path.join(workspaceSkillsDir, name));
  const { entries } = await callGateway(context, directorySchema, "agents.workspace.list", { agentId, path: directory });
  if (entries.some((entry) => entry.name !== "SKILL.md"))
    throw new ManagementError(
      "not_supported",
      `The skill ${name} has other files than its SKILL.md, and OpenClaw would delete them. Run Bridge on the gateway's host and set BRIDGE_OPENCLAW_STATE_DIR.`,
    );
}
