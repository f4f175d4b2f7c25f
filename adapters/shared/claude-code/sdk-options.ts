import type { ExecutionRequest } from "#contract";
import { createTaskSettings, listAllowedTools, selectTools } from "./permissions.ts";
import { createCommonFlags, locateTaskFiles } from "./task-files.ts";

/** Creates the options of the Claude Agent SDK that restrict a task to its permissions, as the flags of the `cli` connection do. */
export const createSdkOptions = (request: ExecutionRequest) => ({
  settingSources: [],
  strictMcpConfig: true,
  promptSuggestions: false,
  // `claude-agent-acp` sets this to true unless it runs as root, and Claude Code does not start with both this option and `restricted`.
  allowDangerouslySkipPermissions: false,
  // Saves the model call that would generate a title.
  title: "Bridge",
  tools: selectTools(request),
  allowedTools: listAllowedTools(request),
  settings: createTaskSettings(request),
  extraArgs: createCommonFlags(request, locateTaskFiles(request.directories.tmp)),
});
