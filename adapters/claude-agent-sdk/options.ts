import type { ExecutionRequest } from "#contract";
import { sdkOptions } from "../shared/claude-code/sdk-options.ts";

/** Options of the SDK for a task, but for what calls back: the same rights as in a start of `claude`. Nothing secret stands in them but what the SDK hands on by stdin. */
export function optionsFor(request: ExecutionRequest, schema: string | null): Record<string, unknown> {
  const { allowedTools, extraArgs, ...options } = sdkOptions(request);
  const { model, resumeToken, systemPrompt, profile, directories } = request;
  return {
    ...options,
    // As a flag: the SDK's own option of that name makes it print a warning in each task.
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
