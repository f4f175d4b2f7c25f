import { isAbsolute, win32 } from "node:path";
import { z } from "zod";
import { type AgentFields, ManagementError } from "#contract";
import { callGateway, type ManageContext } from "./manage-context.ts";

const idPattern = /^[a-z0-9][a-z0-9_-]{0,63}$/;
/** Fields that only the gateway may set. */
const PRIVATE_FIELDS = ["agentDir"];
const lookupSchema = z.object({ children: z.array(z.object({ key: z.string() })) });

/** Rejects an agent id that the gateway would normalize to a different one. */
export function checkAgentId(agentId: string): void {
  if (!idPattern.test(agentId))
    throw new ManagementError(
      "invalid_request",
      `id: must consist of 1 to 64 lower-case letters, digits, hyphens and underscores, and start with a letter or digit; got ${JSON.stringify(agentId.slice(0, 100))}.`,
    );
}

/** Rejects fields that the gateway's configuration schema does not define for agents. */
export async function checkAgentFields(context: ManageContext, fields: AgentFields): Promise<void> {
  if (Object.keys(fields).length === 0) return;
  const { children } = await callGateway(context, lookupSchema, "config.schema.lookup", { path: "agents.entries.*" });
  const known = children.map(({ key }) => key).filter((key) => !PRIVATE_FIELDS.includes(key));
  const unknown = Object.keys(fields).filter((name) => !known.includes(name));
  if (unknown.length > 0)
    throw new ManagementError(
      "invalid_request",
      `${unknown.join(", ")}: unknown field of an OpenClaw agent. Known fields: ${known.join(", ")}.`,
    );
  const { workspace } = fields;
  // The gateway would resolve a relative path in its working directory.
  if (typeof workspace === "string" && !isAbsolute(workspace) && !win32.isAbsolute(workspace) && !workspace.startsWith("~"))
    throw new ManagementError("invalid_request", "workspace: must be an absolute path on the gateway's host.");
}
