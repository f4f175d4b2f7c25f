import { z } from "zod";
import type { AcpToolCall } from "../shared/acp/read-update.ts";

const nameSchema = z
  .string()
  .regex(/^[A-Za-z_][\w.:/-]{0,127}$/)
  .optional()
  .catch(undefined);
/** Agents report the tool name as a field of `_meta`, or of an object inside `_meta`. */
const metaSchema = z.looseObject({ toolName: nameSchema, tool_name: nameSchema });
const inputSchema = z.object({ server: nameSchema, tool: nameSchema });

/** Finds the tool name of a call; undefined if the agent reports only the kind of the call. */
export function findToolName({ name: reportedName, title, kind, rawInput, _meta }: AcpToolCall): string | undefined {
  // A model can add `server` and `tool` to the input of a command, which would make it look like an MCP call.
  const { server, tool } = (kind === "execute" ? undefined : inputSchema.safeParse(rawInput).data) ?? {};
  const mcpToolName = server !== undefined && tool !== undefined ? `mcp__${server}__${tool}` : undefined;
  return reportedName ?? findInMeta(_meta) ?? mcpToolName ?? parseTitle(title);
}

function findInMeta(meta: AcpToolCall["_meta"]): string | undefined {
  for (const fields of [meta, ...Object.values(meta ?? {})]) {
    const found = metaSchema.safeParse(fields).data;
    if (found?.toolName !== undefined || found?.tool_name !== undefined) return found.toolName ?? found.tool_name;
  }
  return undefined;
}

/** Reads the name from a title such as `run_shell_command` or `run_shell_command: ls`; undefined for a title in prose. */
const parseTitle = (title: string | null | undefined): string | undefined => /^([a-z]+(?:_[a-z0-9]+)+)(?:$|[:(])/.exec(title ?? "")?.[1];
