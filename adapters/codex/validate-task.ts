import type { ProgramTask } from "../shared/agent-program/agent-program.ts";
import type { Verdict } from "../shared/agent-program/run-program.ts";
import { apiKeyName } from "./configuration.ts";
import { credentialsAdvice } from "./failures.ts";
import { mcpObstacle } from "./mcp-servers.ts";

const sessionId = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;

/** Why Codex should not even be started for a task, over whatever connection; null when nothing stands in the way. */
export function obstacleTo({ request, context }: Pick<ProgramTask, "request" | "context">): Verdict | null {
  // Without a login in its home Codex would wait for its vendor for ever.
  if (context.settings.home === "agent" && apiKeyName(context) === undefined && context.env["OPENAI_BASE_URL"] === undefined)
    return { status: "error", errorCode: "authentication_required", error: `Codex has no credentials: ${credentialsAdvice}.` };
  // Anything else could be the name of a session, or a flag.
  if (request.resumeToken !== undefined && !sessionId.test(request.resumeToken))
    return { status: "error", errorCode: "adapter_error", error: "The resume token is not the id of a Codex session." };
  const mcp = mcpObstacle(request);
  return mcp === null ? null : { status: "error", errorCode: "adapter_error", error: mcp };
}
