import { z } from "zod";
import { type AgentFile, ManagementError } from "#contract";
import { GatewayError } from "../gateway-error.ts";
import { textEtag } from "./etag.ts";
import { removeFile } from "./host-files.ts";
import { callGateway, callGatewayForWrite, expectMatch, type ManageContext } from "./manage-context.ts";
import { isMissingAgent } from "./management-errors.ts";

/** The gateway itself takes no larger ones to where they count. */
const MAX_BYTES = 2 * 1024 ** 2;
/** The gateway serves it, and leaves it out of its list. */
const UNLISTED_FILE = "IDENTITY.md";

const fileSchema = z.object({
  name: z.string(),
  missing: z.boolean().default(false),
  size: z.number().optional(),
  hash: z.string().optional(),
  content: z.string().optional(),
});
const listSchema = z.object({ files: z.array(fileSchema) });
const oneSchema = z.object({ workspace: z.string(), file: fileSchema });

/** The files of an agent that exist; null: there is no such agent. */
export async function listAgentFiles(
  context: ManageContext,
  agentId: string,
): Promise<{ name: string; etag: string | null; bytes: number | null }[] | null> {
  const files = await filesOf(context, agentId);
  if (files === null) return null;
  return files.filter(({ missing }) => !missing).map(({ name, hash, size }) => ({ name, etag: hash ?? null, bytes: size ?? null }));
}

/** A file of an agent; null: there is none, or no such agent. */
export async function readAgentFile(context: ManageContext, agentId: string, name: string): Promise<AgentFile | null> {
  return (await readFile(context, agentId, name))?.file ?? null;
}

/** Writes a file whole. */
export async function writeAgentFile(
  context: ManageContext,
  agentId: string,
  name: string,
  content: string,
  ifMatch?: string,
): Promise<AgentFile> {
  const bytes = Buffer.byteLength(content);
  if (bytes > MAX_BYTES)
    throw new ManagementError("invalid_request", `content: has ${bytes} bytes; OpenClaw takes ${MAX_BYTES} for a file of an agent.`);
  if (content.includes("\0") || !content.isWellFormed())
    throw new ManagementError("invalid_request", "content: must be text, without NUL and half characters.");
  const params = { agentId, name, content };
  if (ifMatch === undefined) await set(context, params);
  else await setIfMatch(context, params, ifMatch);
  return { name, content, etag: textEtag(content) };
}

/** Deletes a file, which the gateway has no call for: on its own host. False: there is none. */
export async function deleteAgentFile(context: ManageContext, agentId: string, name: string, ifMatch?: string): Promise<boolean> {
  const found = await readFile(context, agentId, name);
  if (found === null) return false;
  expectMatch(ifMatch, found.file.etag, `The file ${name}`);
  if (context.stateDir === null)
    throw new ManagementError(
      "not_supported",
      "OpenClaw has no call that deletes a file of an agent. Bridge does it on the gateway's own host, where BRIDGE_OPENCLAW_STATE_DIR says that it is; elsewhere, write an empty file.",
    );
  context.signal?.throwIfAborted();
  await removeFile(found.workspace, name, found.file.etag);
  return true;
}

/** The gateway compares and sets in one; an older one does not know how, so between its reading and its writing another may write. */
async function setIfMatch(
  context: ManageContext,
  params: { agentId: string; name: string; content: string },
  ifMatch: string,
): Promise<void> {
  const { agentId, name } = params;
  const current = await readFile(context, agentId, name);
  expectMatch(ifMatch, current?.file.etag ?? null, `The file ${name}`);
  try {
    await set(context, { ...params, expectedHash: ifMatch });
  } catch (error) {
    const isUnknown = error instanceof GatewayError && error.message.includes("unexpected property 'expectedHash'");
    if (!isUnknown) throw error;
    await set(context, params);
  }
}

async function set(
  context: ManageContext,
  params: { agentId: string; name: string; content: string; expectedHash?: string },
): Promise<void> {
  await callGatewayForWrite(context, oneSchema, "agents.files.set", params).catch(explainFileName(context, params.agentId));
}

async function readFile(context: ManageContext, agentId: string, name: string): Promise<{ workspace: string; file: AgentFile } | null> {
  try {
    const { workspace, file } = await callGateway(context, oneSchema, "agents.files.get", { agentId, name }).catch(
      explainFileName(context, agentId),
    );
    if (file.missing || file.content === undefined) return null;
    return { workspace, file: { name: file.name, content: file.content, etag: file.hash ?? textEtag(file.content) } };
  } catch (error) {
    if (isMissingAgent(error)) return null;
    throw error;
  }
}

/** Which names there are is the gateway's to say. */
const explainFileName =
  (context: ManageContext, agentId: string) =>
  async (error: unknown): Promise<never> => {
    if (!(error instanceof GatewayError && error.message.startsWith("unsupported file"))) throw error;
    const names = (await filesOf(context, agentId))?.map(({ name }) => name) ?? [];
    throw new ManagementError("invalid_request", `name: OpenClaw manages these files of an agent: ${names.join(", ")}. ${error.message}.`);
  };

async function filesOf(context: ManageContext, agentId: string): Promise<z.infer<typeof fileSchema>[] | null> {
  try {
    const [{ files }, { file }] = await Promise.all([
      callGateway(context, listSchema, "agents.files.list", { agentId }),
      callGateway(context, oneSchema, "agents.files.get", { agentId, name: UNLISTED_FILE }),
    ]);
    return files.some(({ name }) => name === UNLISTED_FILE) ? files : [...files, file];
  } catch (error) {
    if (isMissingAgent(error)) return null;
    throw error;
  }
}
