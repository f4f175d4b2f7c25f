import type { ExecutionRequest } from "#contract";
import { allowedTools, settingsFor, toolsFor } from "./permissions.ts";
import { commonFlags, filesIn } from "./task-files.ts";

/** Options of the Claude Agent SDK that restrict a task to its permissions, as the flags of the `cli` connection do. */
export const sdkOptions = (request: ExecutionRequest) => ({
  settingSources: [],
  strictMcpConfig: true,
  promptSuggestions: false,
  // `claude-agent-acp` sets this to true unless it runs as root, and Claude Code does not start with both this option and `restricted`.
  allowDangerouslySkipPermissions: false,
  // Saves the model call that would generate a title.
  title: "Bridge",
  tools: toolsFor(request),
  allowedTools: allowedTools(request),
  settings: settingsFor(request),
  extraArgs: commonFlags(request, filesIn(request.directories.tmp)),
});
