import type { ConnectionResult } from "../agent-program/agent-program.ts";
import { failure } from "../process/failure.ts";

const SESSION_ID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;

/**
 * Returns the failure of a task whose resume token is not a session id; null if it is one, or if there is no token. Claude Code
 * would search the titles of its sessions for any other value.
 */
export const checkSessionId = (token: string | undefined): ConnectionResult | null =>
  token === undefined || SESSION_ID.test(token)
    ? null
    : failure("adapter_error", "The resume token is not the id of a Claude Code session. Omit `resumeToken`, or use the one of a result.");
