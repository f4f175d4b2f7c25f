import { z } from "zod";
import { type AgentFile, ManagementError } from "#contract";
import { GatewayError } from "../gateway-error.ts";
import { createTextEtag } from "./etag.ts";
import { removeFile } from "./host-files.ts";
import { callGateway, callGatewayForWrite, expectMatch, type ManageContext } from "./manage-context.ts";
import { isMissingAgent } from "./management-errors.ts";

/** The gateway does not add larger files to prompts. */
const MAX_BYTES = 2 * 1024 ** 2;
/** The gateway serves this file but omits it from its list. */
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

/** Lists the existing files of an agent; null if the agent does not exist. */
export async function listAgentFiles(
  context: ManageContext,
  agentId: string,
): Promise<{ name: string; etag: string | null; bytes: number | null }[] | null> {
  const files = await filesOf(context, agentId);
  if (files === null) return null;
  return files.filter(({ missing }) => !missing).map(({ name, hash, size }) => ({ name, etag: hash ?? null, bytes: size ?? null }));
}

/** Reads a file of an agent; null if the file or the agent does not exist. */
export async function readAgentFile(context: ManageContext, agentId: string, name: string): Promise<AgentFile | null> {
  return (await readFile(context, agentId, name))?.file ?? null;
}

/** Writes the whole content of a file. */
export async function writeAgentFile(
  context: ManageContext,
  agentId: string,
  name: string,
  content: string,
  ifMatch?: string,
): Promise<AgentFile> {
  const bytes = Buffer.byteLength(content);
  if (bytes > MAX_BYTES) throw new ManagementError("invalid_request", `content: must have at most ${MAX_BYTES} bytes; got ${bytes}.`);
  if (content.includes("\0") || !content.isWellFormed())
    throw new ManagementError("invalid_request", "content: must be valid text without NUL characters and lone surrogates.");
  const params = { agentId, name, content };
  if (ifMatch === undefined) await setFile(context, params);
  else await setFileIfMatch(context, params, ifMatch);
  return { name, content, etag: createTextEtag(content) };
}

/** Deletes a file on the gateway's host, because the gateway has no method for it. Returns false if the file does not exist. */
export async function deleteAgentFile(context: ManageContext, agentId: string, name: string, ifMatch?: string): Promise<boolean> {
  const found = await readFile(context, agentId, name);
  if (found === null) return false;
  expectMatch(ifMatch, found.file.etag, `The file ${name}`);
  if (context.stateDir === null)
    throw new ManagementError(
      "not_supported",
      "OpenClaw has no method that deletes a file of an agent. Write an empty file, or run Bridge on the gateway's host and set BRIDGE_OPENCLAW_STATE_DIR.",
    );
  context.signal?.throwIfAborted();
  await removeFile(found.workspace, name, found.file.etag);
  return true;
}

/** Writes a file if its etag matches. The gateway does both atomically; with an older gateway, another write is possible in between. */
async function setFileIfMatch(
  context: ManageContext,
  params: { agentId: string; name: string; content: string },
  ifMatch: string,
): Promise<void> {
  const { agentId, name } = params;
  const current = await readFile(context, agentId, name);
  expectMatch(ifMatch, current?.file.etag ?? null, `The file ${name}`);
  try {
    await setFile(context, { ...params, expectedHash: ifMatch });
  } catch (error) {
    const isUnknown = error instanceof GatewayError && error.message.includes("unexpected property 'expectedHash'");
    if (!isUnknown) throw error;
    await setFile(context, params);
  }
}

async function setFile(
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
    return { workspace, file: { name: file.name, content: file.content, etag: file.hash ?? createTextEtag(file.content) } };
  } catch (error) {
    if (isMissingAgent(error)) return null;
    throw error;
  }
}

/** Adds the valid names to the error for an unsupported file name. */
const explainFileName =
  (context: ManageContext, agentId: string) =>
  async (error: unknown): Promise<never> => {
    if (!(error instanceof GatewayError && error.message.startsWith("unsupported file"))) throw error;
    const names = (await filesOf(context, agentId))?.map(({ name }) => name) ?? [];
    throw new ManagementError("invalid_request", `name: must be one of ${names.join(", ")}. ${error.message}.`);
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
