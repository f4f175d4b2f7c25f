import type { ProgramConnection } from "../agent-program/agent-program.ts";
import { isConversationToken } from "./conversations.ts";
import type { ModelConnection } from "./create-model-connection.ts";

/**
 * The connections of a program, and last the one to its vendor's models, for machines on which the program is not installed. One that is
 * installed but fails is never stood in for: a model without tools would do something else with its tasks. The operator's choice of the
 * connection counts before that. Neither side goes on with what was begun on the other.
 */
export function addApiFallback(programs: readonly ProgramConnection[], api: ModelConnection): ProgramConnection[] {
  return [...programs.map(withoutConversations), standIn(programs, api)];
}

function standIn(programs: readonly ProgramConnection[], api: ModelConnection): ProgramConnection {
  return {
    ...api,
    find(context) {
      const chosen = context.settings.connection === api.name;
      const installed = chosen ? undefined : programs.find((program) => "argv" in program.find(context));
      if (installed === undefined) return api.find(context);
      return { missing: `not used, because the program for ${installed.name} is installed; the setting of the connection can choose it.` };
    },
    unsupportedReason(request) {
      const { resumeToken } = request;
      if (resumeToken !== undefined && !isConversationToken(resumeToken))
        return "the resume token is of a session of the program, which a model alone cannot go on with: dispatch without one.";
      return api.unsupportedReason?.(request) ?? null;
    },
  };
}

function withoutConversations(program: ProgramConnection): ProgramConnection {
  return {
    ...program,
    unsupportedReason(request) {
      const { resumeToken } = request;
      if (resumeToken !== undefined && isConversationToken(resumeToken))
        return "the resume token is of a conversation over api, without the program: choose that connection, or dispatch without one.";
      return program.unsupportedReason?.(request) ?? null;
    },
  };
}
