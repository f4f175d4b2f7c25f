import type { ExecutionRequest } from "#contract";

/** Returns Gemini's approval mode for a task; its policy is stricter. The mode `plan` is never used, because it writes files. */
function approvalMode({ profile, approvals }: Pick<ExecutionRequest, "profile" | "approvals">): "default" | "auto_edit" | "yolo" {
  if (profile === "inspect") return "default";
  return approvals === "allow" ? "yolo" : "auto_edit";
}

/** Builds the arguments of every connection. */
export function commonArguments({ model }: Pick<ExecutionRequest, "model">, policyFile: string): string[] {
  return [...(model === undefined ? [] : [`--model=${model}`]), `--admin-policy=${policyFile}`, "--extensions=none"];
}

/** Builds the arguments of a task over `cli`; the prompt is sent through stdin. */
export function cliArguments(
  request: Pick<ExecutionRequest, "model" | "profile" | "approvals" | "resumeToken">,
  { policyFile, trusted }: { policyFile: string; trusted: boolean },
): string[] {
  return [
    "--output-format=stream-json",
    // Without this flag Gemini removes text that looks like terminal control sequences.
    "--raw-output",
    `--approval-mode=${approvalMode(request)}`,
    ...(trusted ? ["--skip-trust"] : []),
    ...(request.resumeToken === undefined ? [] : [`--resume=${request.resumeToken}`]),
    ...commonArguments(request, policyFile),
  ];
}
