import type { ProgramConnection } from "../agent-program/agent-program.ts";
import { isConversationToken } from "./conversations.ts";
import type { ModelConnection } from "./create-model-connection.ts";

/**
 * Adds the connection to the vendor's API as a fallback for hosts on which the program is not installed. The fallback
 * is not used for a program that is installed but fails, because a model without tools would handle its tasks
 * differently. The operator can select the API connection explicitly. The program cannot resume conversations of the API
 * connection, and the API connection cannot resume sessions of the program.
 */
export function addApiFallback(programs: readonly ProgramConnection[], api: ModelConnection): ProgramConnection[] {
  return [...programs.map(rejectConversations), createFallback(programs, api)];
}

function createFallback(programs: readonly ProgramConnection[], api: ModelConnection): ProgramConnection {
  return {
    ...api,
    find(context) {
      const isSelected = context.settings.connection === api.name;
      const installed = isSelected ? undefined : programs.find((program) => "argv" in program.find(context));
      if (installed === undefined) return api.find(context);
      return {
        missing: `not used, because the program for ${installed.name} is installed. To use it, set the adapter's ..._CONNECTION setting to ${api.name}.`,
      };
    },
    unsupportedReason(request) {
      const { resumeToken } = request;
      if (resumeToken !== undefined && !isConversationToken(resumeToken))
        return "the resume token belongs to a session of the program, which this connection cannot resume. Omit `resumeToken`.";
      return api.unsupportedReason?.(request) ?? null;
    },
  };
}

function rejectConversations(program: ProgramConnection): ProgramConnection {
  return {
    ...program,
    unsupportedReason(request) {
      const { resumeToken } = request;
      if (resumeToken !== undefined && isConversationToken(resumeToken))
        return "the resume token belongs to a conversation of the api connection. Select that connection, or omit `resumeToken`.";
      return program.unsupportedReason?.(request) ?? null;
    },
  };
}
