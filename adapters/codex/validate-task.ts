import type { ProgramTask } from "../shared/agent-program/agent-program.ts";
import type { Outcome } from "../shared/agent-program/run-program.ts";
import { failure } from "../shared/process/failure.ts";
import { apiKeyName } from "./configuration.ts";
import { CREDENTIALS_ADVICE } from "./failures.ts";
import { explainUnsupportedServer } from "./mcp-servers.ts";

const SESSION_ID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;

/** Checks a task before Codex starts, over any connection. Returns the failure; null if the task can run. */
export function validateTask({ request, context }: Pick<ProgramTask, "request" | "context">): Outcome | null {
  // Without credentials Codex waits forever for a login.
  if (context.settings.home === "agent" && apiKeyName(context) === undefined && context.env["OPENAI_BASE_URL"] === undefined)
    return failure("authentication_required", `Codex has no credentials: ${CREDENTIALS_ADVICE}.`);
  // Codex would read any other value as the name of a session, or as a flag.
  if (request.resumeToken !== undefined && !SESSION_ID.test(request.resumeToken))
    return failure("adapter_error", "The resume token is not the id of a Codex session.");
  const mcp = explainUnsupportedServer(request);
  return mcp === null ? null : failure("adapter_error", mcp);
}
