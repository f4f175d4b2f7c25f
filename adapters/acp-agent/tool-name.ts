import { z } from "zod";
import type { AcpToolCall } from "../shared/acp/read-update.ts";

const name = z
  .string()
  .regex(/^[A-Za-z_][\w.:/-]{0,127}$/)
  .optional()
  .catch(undefined);
/** Where agents put the name of a tool: in `_meta` itself, or in it under their own name. */
const metaSchema = z.looseObject({ toolName: name, tool_name: name });
const inputSchema = z.object({ server: name, tool: name });

/** The name of a tool, where an agent reveals one; undefined: only the kind of the call is known. */
export function toolName({ name: own, title, kind, rawInput, _meta }: AcpToolCall): string | undefined {
  // A model can add fields to the input of a command, which would then pass for a call of a server.
  const { server, tool } = (kind === "execute" ? undefined : inputSchema.safeParse(rawInput).data) ?? {};
  const ofServer = server !== undefined && tool !== undefined ? `mcp__${server}__${tool}` : undefined;
  return own ?? inMeta(_meta) ?? ofServer ?? nameIn(title);
}

function inMeta(meta: AcpToolCall["_meta"]): string | undefined {
  for (const fields of [meta, ...Object.values(meta ?? {})]) {
    const found = metaSchema.safeParse(fields).data;
    if (found?.toolName !== undefined || found?.tool_name !== undefined) return found.toolName ?? found.tool_name;
  }
  return undefined;
}

/** A title such as `run_shell_command` or `run_shell_command: ls` begins with the name; one in prose has none. */
const nameIn = (title: string | null | undefined): string | undefined => /^([a-z]+(?:_[a-z0-9]+)+)(?:$|[:(])/.exec(title ?? "")?.[1];
