import type { TaskErrorCode } from "./wire.ts";

/** A way to react to the failure of a task. */
export type TaskErrorRemedy =
  /** Dispatch the same request again. */
  | "run_again"
  /** Dispatch the same request with a larger `timeoutSeconds`. */
  | "run_longer"
  /** Change the request before it is dispatched again. */
  | "change_request"
  /** Look at the preflight of the adapter. */
  | "open_adapter";

/** Why a task fails with an error code, and what to do. */
export interface TaskErrorAdvice {
  cause: string;
  /** Names of settings and fields are in backticks. */
  advice: string;
  /** The most useful one first. */
  remedies: readonly TaskErrorRemedy[];
}

/** The advice for each error code of a task. */
export const taskErrors: Readonly<Record<TaskErrorCode, TaskErrorAdvice>> = {
  adapter_offline: {
    cause: "The adapter went offline while the task waited, or no node can run the task any more.",
    advice: "Read the preflight of the adapter, which names what is missing. Then dispatch the task again.",
    remedies: ["open_adapter", "run_again"],
  },
  adapter_error: {
    cause: "The adapter failed for a reason that no other code describes.",
    advice: "Read `error` and the log lines of the task. Check the adapter, then dispatch the task again.",
    remedies: ["open_adapter", "run_again"],
  },
  authentication_required: {
    cause: "The program is not logged in, or the key is wrong.",
    advice: "Set the key in the environment of Bridge, or log in with the program. Then dispatch the task again.",
    remedies: ["open_adapter", "run_again"],
  },
  user_action_required: {
    cause: "The runtime needs a person, for example to accept terms or to choose an account.",
    advice: "Start the program once by hand as the user of Bridge, do what it asks for, and dispatch the task again.",
    remedies: ["open_adapter", "run_again"],
  },
  rate_limited: {
    cause: "The vendor rejects requests for now, or a usage limit is reached.",
    advice: "Dispatch the task later, or lower `BRIDGE_MAX_CONCURRENT` for this adapter.",
    remedies: ["run_again"],
  },
  model_error: {
    cause: "The model failed, or it answered nothing.",
    advice: "Dispatch the task again. If it fails again, read `error`, and try another `model`.",
    remedies: ["run_again", "change_request"],
  },
  timeout: {
    cause: "The task ran longer than `timeoutSeconds`, 600 by default.",
    advice: "Send a larger `timeoutSeconds`, up to 86400.",
    remedies: ["run_longer", "change_request"],
  },
  idle_timeout: {
    cause: "The runtime emitted no event for `BRIDGE_IDLE_SECONDS`, 300 by default, and no tool call was open.",
    advice: "Dispatch the task again. If the model is slow, raise the setting, or set it to 0 to disable the limit.",
    remedies: ["run_again"],
  },
  cancelled: {
    cause: "A client or a person canceled the task, or its parent task ended.",
    advice: "Nothing. Dispatch the task again if it is still needed.",
    remedies: ["run_again", "change_request"],
  },
  output_limit: {
    cause: "The runtime wrote more than Bridge stores.",
    advice: "Ask for a file in the workspace instead of a long answer.",
    remedies: ["change_request"],
  },
  output_invalid: {
    cause: "The answer does not match the output strategy, such as `outputSchema`.",
    advice: "Read the text in `output`. Simplify the schema, or ask for the fields in the message.",
    remedies: ["change_request", "run_again"],
  },
  runtime_crashed: {
    cause: "The program ended without a result.",
    advice: "Read `error`, which contains the end of its stderr. Run the program by hand in the workspace.",
    remedies: ["run_again", "open_adapter"],
  },
  spawn_failed: {
    cause: "Bridge could not start the program: it is missing, not executable, or the machine has no room for it.",
    advice: "Read `error`. Correct the path of the program or its permissions, or lower `BRIDGE_MAX_CONCURRENT`.",
    remedies: ["open_adapter", "run_again"],
  },
  bridge_restarted: {
    cause: "Bridge ended while the task ran, or its node lost the PostgreSQL database for most of its lease.",
    advice: 'Check what the task has already done, and dispatch it again. With `"onInterrupt": "retry"`, Bridge does this once.',
    remedies: ["run_again", "change_request"],
  },
  bridge_shutdown: {
    cause: "Bridge shut down, and the task did not end within `BRIDGE_DRAIN_SECONDS`. A task that waits for a person ends so, too.",
    advice: 'Dispatch the task again. Raise the setting, or send `"onInterrupt": "retry"`.',
    remedies: ["run_again"],
  },
  max_turns: {
    cause: "The runtime reached its own limit of turns.",
    advice: "Divide the task, or raise the limit in the settings of the runtime. A `resumeToken` continues the session.",
    remedies: ["change_request"],
  },
  budget_exceeded: {
    cause: "The task reached the maximum of its dispatch, of a budget of the operator, or of its runtime.",
    advice:
      "Read `error`, which names the maximum. Raise `budget` in the dispatch, have the operator raise the budget, or divide the task.",
    remedies: ["change_request"],
  },
};

/** Returns the advice for an error code of a task; null for a code of a newer Bridge. */
export const explainTaskError = (code: string): TaskErrorAdvice | null =>
  Object.hasOwn(taskErrors, code) ? taskErrors[code as TaskErrorCode] : null;
