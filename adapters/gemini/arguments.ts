import type { ExecutionRequest } from "#contract";

/**
 * Selects Gemini's approval mode for a task. The task's policy restricts it further. The mode `plan` is never used, because it writes
 * files.
 */
function selectApprovalMode({ profile, approvals }: Pick<ExecutionRequest, "profile" | "approvals">): "default" | "auto_edit" | "yolo" {
  if (profile === "inspect") return "default";
  return approvals === "allow" ? "yolo" : "auto_edit";
}

/** Builds the arguments of every connection. */
export function createCommonArguments({ model }: Pick<ExecutionRequest, "model">, policyFile: string): string[] {
  return [...(model === undefined ? [] : [`--model=${model}`]), `--admin-policy=${policyFile}`, "--extensions=none"];
}

/** Builds the arguments of a task over `cli`; the prompt is sent through stdin. */
export function createCliArguments(
  request: Pick<ExecutionRequest, "model" | "profile" | "approvals" | "resumeToken">,
  { policyFile, isTrusted }: { policyFile: string; isTrusted: boolean },
): string[] {
  return [
    "--output-format=stream-json",
    // Without this flag Gemini removes text that looks like terminal control sequences.
    "--raw-output",
    `--approval-mode=${selectApprovalMode(request)}`,
    ...(isTrusted ? ["--skip-trust"] : []),
    ...(request.resumeToken === undefined ? [] : [`--resume=${request.resumeToken}`]),
    ...createCommonArguments(request, policyFile),
  ];
}
