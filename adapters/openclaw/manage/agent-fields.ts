import { isAbsolute, win32 } from "node:path";
import { z } from "zod";
import { type AgentFields, ManagementError } from "#contract";
import { callGateway, type ManageContext } from "./manage-context.ts";

const idPattern = /^[a-z0-9][a-z0-9_-]{0,63}$/;
/** What is the gateway's own business. */
const PRIVATE_FIELDS = ["agentDir"];
const lookupSchema = z.object({ children: z.array(z.object({ key: z.string() })) });

/** Takes no id that the gateway would turn into another. */
export function checkAgentId(agentId: string): void {
  if (!idPattern.test(agentId))
    throw new ManagementError(
      "invalid_request",
      `id: an agent of OpenClaw has small letters, digits, - and _ in its id, up to 64, the first no - or _; not ${JSON.stringify(agentId.slice(0, 100))}.`,
    );
}

/** Takes only fields that this gateway knows, as its own schema tells, and says which these are. */
export async function checkAgentFields(context: ManageContext, fields: AgentFields): Promise<void> {
  if (Object.keys(fields).length === 0) return;
  const { children } = await callGateway(context, lookupSchema, "config.schema.lookup", { path: "agents.entries.*" });
  const known = children.map(({ key }) => key).filter((key) => !PRIVATE_FIELDS.includes(key));
  const unknown = Object.keys(fields).filter((name) => !known.includes(name));
  if (unknown.length > 0)
    throw new ManagementError("invalid_request", `${unknown.join(", ")}: no field of an agent of OpenClaw; it has ${known.join(", ")}.`);
  const { workspace } = fields;
  // The gateway would look for it where it was started.
  if (typeof workspace === "string" && !isAbsolute(workspace) && !win32.isAbsolute(workspace) && !workspace.startsWith("~"))
    throw new ManagementError("invalid_request", "workspace: must be an absolute path on the gateway's host.");
}
