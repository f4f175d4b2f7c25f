import type { ExecutionRequest } from "#contract";
import { getNativeSchema } from "../shared/claude-code/native-schema.ts";
import { createTaskSettings, listAllowedTools, selectTools } from "../shared/claude-code/permissions.ts";
import { createCommonFlags, type TaskFiles } from "../shared/claude-code/task-files.ts";

/** Builds the arguments of `claude` for a task. Each value is joined to its flag with `=`, so that no value can be parsed as a flag. */
export function createClaudeArguments(request: ExecutionRequest, files: TaskFiles, schema = getNativeSchema(request)): string[] {
  const { model, systemPrompt, resumeToken, profile } = request;
  const allowed = listAllowedTools(request);
  return [
    ...["-p", "--output-format=stream-json", "--verbose", "--include-partial-messages"],
    ...["--setting-sources=", "--strict-mcp-config", "--permission-prompts=none"],
    ...Object.entries(createCommonFlags(request, files)).map(([flag, value]) => (value === null ? `--${flag}` : `--${flag}=${value}`)),
    `--tools=${selectTools(request).join(",")}`,
    `--permission-mode=${profile === "inspect" ? "dontAsk" : "acceptEdits"}`,
    `--settings=${JSON.stringify(createTaskSettings(request))}`,
    ...(allowed.length === 0 ? [] : [`--allowedTools=${allowed.join(",")}`]),
    ...(systemPrompt === undefined ? [] : [`--append-system-prompt-file=${files.systemPrompt}`]),
    ...(model === undefined ? [] : [`--model=${model}`]),
    ...(resumeToken === undefined ? [] : [`--resume=${resumeToken}`]),
    ...(schema === null ? [] : [`--json-schema=${schema}`]),
  ];
}
