import type { ExecutionRequest } from "#contract";

/** What a task may do unasked, in Gemini's words; its policy says it once more, and more strictly. Never `plan`, which writes plans. */
function approvalMode({ profile, approvals }: Pick<ExecutionRequest, "profile" | "approvals">): "default" | "auto_edit" | "yolo" {
  if (profile === "inspect") return "default";
  return approvals === "allow" ? "yolo" : "auto_edit";
}

/** Arguments that the program gets over every connection. */
export function commonArguments({ model }: Pick<ExecutionRequest, "model">, policyFile: string): string[] {
  return [...(model === undefined ? [] : [`--model=${model}`]), `--admin-policy=${policyFile}`, "--extensions=none"];
}

/** Arguments of a task over `cli`; the prompt comes by stdin. */
export function cliArguments(
  request: Pick<ExecutionRequest, "model" | "profile" | "approvals" | "resumeToken">,
  { policyFile, trusted }: { policyFile: string; trusted: boolean },
): string[] {
  return [
    "--output-format=stream-json",
    // Else it takes away what looks like the control sequences of a terminal.
    "--raw-output",
    `--approval-mode=${approvalMode(request)}`,
    ...(trusted ? ["--skip-trust"] : []),
    ...(request.resumeToken === undefined ? [] : [`--resume=${request.resumeToken}`]),
    ...commonArguments(request, policyFile),
  ];
}
