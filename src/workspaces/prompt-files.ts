import path from "node:path";
import { readFileInside } from "@hak2i/nofollow-fs";
import { z } from "zod";
import { withoutByteOrderMark } from "#contract";
import { findRefFault } from "../requests/branch-name.ts";
import { findJsonPosition } from "../requests/find-json-position.ts";
import { normalizeTools } from "../requests/normalize-tools.ts";
import { keepModes } from "../task.ts";

/** The files that form the system prompt of an agent, in order. */
const promptFileNames = ["SOUL.md", "AGENTS.md", "TOOLS.md"] as const;

const FILE_LIMIT_BYTES = 1024 * 1024;

/**
 * The settings of `agent.json`. Tasks may be able to write this file, so it cannot extend their permissions: `profile`, `approvals` and
 * `mcpServers` are ignored, and so are `branch` and `push` of `repository`.
 */
const agentFileSchema = z.object({
  systemPrompt: z.string().optional(),
  provider: z.string().optional(),
  model: z.string().optional(),
  tools: z.unknown().optional(),
  timeoutSeconds: z.number().int().min(1).max(86_400).optional(),
  repository: z
    .object({
      name: z.string(),
      ref: z
        .string()
        .refine((name) => findRefFault(name, { isRef: true }) === null, "must be a branch, a tag or a commit")
        .optional(),
      keep: z.enum(keepModes).optional(),
    })
    .optional(),
});

/** The default settings of an agent. */
export type AgentFile = Omit<z.infer<typeof agentFileSchema>, "tools"> & { tools?: ReturnType<typeof normalizeTools> };

/** Reads the prompt files that exist, in order. */
export function readPromptFiles(workspace: string): string[] {
  return promptFileNames.map((name) => readOptionalFile(workspace, name)).filter((text) => text !== null);
}

/** Reads `agent.json`; an empty object if there is none. Throws an error for clients if it is invalid. */
export function readAgentFile(workspace: string): AgentFile {
  const text = readOptionalFile(workspace, "agent.json");
  if (text === null) return {};
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    throw new Error(`agent.json of the workspace is not valid JSON${findJsonPosition(error as Error)}`);
  }
  const parsed = agentFileSchema.safeParse(json);
  if (!parsed.success) {
    const fault = parsed.error.issues[0];
    throw new Error(`agent.json of the workspace is not valid: ${fault?.path.join(".")}: ${fault?.message}`);
  }
  const { tools, ...agent } = parsed.data;
  return tools === undefined ? agent : { ...agent, tools: normalizeTools(tools) };
}

function readOptionalFile(workspace: string, name: string): string | null {
  const file = readFileInside(workspace, `${workspace}${path.sep}${name}`, FILE_LIMIT_BYTES);
  if ("content" in file) return withoutByteOrderMark(file.content.toString("utf8"));
  if (file.fault === "missing") return null;
  if (file.fault === "outside") throw new Error(`${name} leads out of the workspace through a link`);
  throw new Error(`${name} of the workspace must be a file of at most 1 MiB`);
}
