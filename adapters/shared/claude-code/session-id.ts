import type { ConnectionResult } from "../agent-program/agent-program.ts";

const sessionId = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;

/** How a task ends whose resume token cannot be a session's id; null when it can. Anything else could be the title of a session, of which there may be several. */
export const checkSessionId = (token: string | undefined): ConnectionResult | null =>
  token === undefined || sessionId.test(token)
    ? null
    : { status: "error", errorCode: "adapter_error", error: "The resume token is not the id of a Claude Code session." };
