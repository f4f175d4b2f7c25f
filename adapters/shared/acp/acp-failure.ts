import { RequestError } from "@agentclientprotocol/sdk";
import type { TaskErrorCode } from "#contract";
import type { Outcome } from "../agent-program/run-program.ts";
import { simplifyErrorMessage } from "../agent-program/simplify-error-message.ts";
import { failure } from "../process/failure.ts";
import { isRateLimitMessage } from "../process/rate-limit-message.ts";
import type { AcpProfile } from "./acp-profile.ts";

/** A failure of a task that Bridge detected. The message is for the caller. */
export class AcpFailure extends Error {
  readonly errorCode: TaskErrorCode;

  constructor(errorCode: TaskErrorCode, message: string) {
    super(message);
    this.errorCode = errorCode;
  }
}

/** The error of requests whose agent has exited. Bridge derives the failure of the task from the exit of the process instead. */
export class AgentExited extends Error {}

const AUTHENTICATION_REQUIRED = -32000;
/** Vendor errors in the agents' error messages. The pattern is never applied to a model's text. */
const UNAUTHORIZED = /\b40[13]\b|unauthori[sz]ed|authenticat|permission.?denied|api.?key|not logged in/i;

/** Converts an agent's error into an outcome. Rethrows errors that are not the agent's. */
export function explainError(error: unknown, phase: "start" | "prompt", profile: Pick<AcpProfile, "explainError">): Outcome {
  if (error instanceof AcpFailure) return failure(error.errorCode, error.message);
  if (!(error instanceof RequestError)) throw error;
  const own = profile.explainError?.(error);
  if (own !== undefined) return own;
  return explainMessage(messageOf(error), phase, error.code === AUTHENTICATION_REQUIRED ? "authentication_required" : undefined);
}

/** Converts an agent's error message into an outcome. An error of an unknown kind is a `model_error` only after the prompt. */
export function explainMessage(message: string, phase: "start" | "prompt", knownCode?: TaskErrorCode): Outcome {
  const isUnauthorized = UNAUTHORIZED.test(message);
  const matchedCode = isUnauthorized ? "authentication_required" : isRateLimitMessage(message) ? "rate_limited" : undefined;
  const errorCode = knownCode ?? matchedCode ?? (phase === "prompt" ? "model_error" : "adapter_error");
  const advice = errorCode === "authentication_required" ? "\nCheck the credentials of the runtime." : "";
  return failure(errorCode, `The agent reports: ${simplifyErrorMessage(message.trim()).slice(0, 4_000)}${advice}`);
}

/** Joins the message and the data in one line, because some agents put the reason into the data. */
function messageOf({ message, data }: RequestError): string {
  const details = data === undefined || data === null ? "" : typeof data === "string" ? data : JSON.stringify(data);
  return details === "" || details === "{}" ? message : `${message} ${details}`;
}
