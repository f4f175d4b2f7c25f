import type { ExecutionRequest } from "#contract";
import { allowedTools, settingsFor, toolsFor } from "./permissions.ts";
import { commonFlags, filesIn } from "./task-files.ts";

/** Options of the Claude Agent SDK that hold a task to its rights, whoever runs the SDK: the same as over `cli`. */
export const sdkOptions = (request: ExecutionRequest) => ({
  settingSources: [],
  strictMcpConfig: true,
  promptSuggestions: false,
  // `claude-agent-acp` would allow itself this unless it runs as root, and Claude Code does not begin when it is restricted as well.
  allowDangerouslySkipPermissions: false,
  // Named, a session needs no further call of the model to get a name.
  title: "Bridge",
  tools: toolsFor(request),
  allowedTools: allowedTools(request),
  settings: settingsFor(request),
  extraArgs: commonFlags(request, filesIn(request.directories.tmp)),
});
