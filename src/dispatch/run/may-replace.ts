import type { Profile, TaskErrorCode } from "#contract";

/** What is known about an attempt that has failed. */
export interface FailedAttempt {
  errorCode: TaskErrorCode;
  profile: Profile;
  /** Whether the runtime enforces the profile; it does not depend on the model to obey. */
  isEnforced: boolean;
  /** Whether the runtime reports each tool call before the tool runs. */
  reportsTools: boolean;
  hasCalledTool: boolean;
  /** Whether a file of the workspace has changed since the runtime was started, or may have. */
  hasChangedFiles: boolean;
  /** Whether the next attempt gets a new work tree in place of that of this attempt. */
  hasNewTree: boolean;
}

/** The runtime was not started. */
const NEVER_BEGAN: ReadonlySet<TaskErrorCode> = new Set(["adapter_offline", "spawn_failed"]);

/** The vendor rejected a call of the model. */
const REJECTED: ReadonlySet<TaskErrorCode> = new Set(["rate_limited", "authentication_required", "user_action_required", "model_error"]);

/** Whether the failure is of a kind after which another attempt may follow. */
export const isReplaceable = (errorCode: TaskErrorCode): boolean => NEVER_BEGAN.has(errorCode) || REJECTED.has(errorCode);

/**
 * Whether another attempt may follow a failed one: nothing that the failed attempt did may happen twice. A runtime that only reads can do
 * nothing. One that may edit must not have called a tool or changed a file, unless the task has a separate work tree, which is replaced.
 */
export function mayReplace({ errorCode, profile, isEnforced, hasNewTree, ...did }: FailedAttempt): boolean {
  if (NEVER_BEGAN.has(errorCode)) return true;
  if (!REJECTED.has(errorCode)) return false;
  if ((profile === "inspect" && isEnforced) || hasNewTree) return true;
  return did.reportsTools && !did.hasCalledTool && !did.hasChangedFiles;
}
