import type { ExecutionRequest } from "#contract";
import { createSdkOptions } from "../shared/claude-code/sdk-options.ts";

/**
 * Builds the SDK options of a task, except for callbacks. They grant the same permissions as the arguments of `claude`. The only secrets in
 * them are those that the SDK passes to the program through stdin.
 */
export function createOptions(request: ExecutionRequest, schema: string | null): Record<string, unknown> {
  const { allowedTools, extraArgs, ...options } = createSdkOptions(request);
  const { model, resumeToken, systemPrompt, profile, directories } = request;
  return {
    ...options,
    // The SDK option `allowedTools` prints a warning in each task; the flag does not.
    extraArgs: { ...extraArgs, ...(allowedTools.length === 0 ? {} : { allowedTools: allowedTools.join(",") }) },
    cwd: directories.cwd,
    includePartialMessages: true,
    permissionMode: profile === "inspect" ? "dontAsk" : "acceptEdits",
    systemPrompt: { type: "preset", preset: "claude_code", ...(systemPrompt === undefined ? {} : { append: systemPrompt }) },
    ...(model === undefined ? {} : { model }),
    ...(resumeToken === undefined ? {} : { resume: resumeToken }),
    ...(schema === null ? {} : { outputFormat: { type: "json_schema", schema: JSON.parse(schema) } }),
  };
}
