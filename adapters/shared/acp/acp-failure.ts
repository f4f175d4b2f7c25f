import { RequestError } from "@agentclientprotocol/sdk";
import type { TaskErrorCode } from "#contract";
import { readableError } from "../agent-program/readable-error.ts";
import type { Outcome } from "../agent-program/run-program.ts";
import type { AcpProfile } from "./acp-profile.ts";

/** What stands in the way of a task, found by Bridge itself; the message is for humans. */
export class AcpFailure extends Error {
  readonly errorCode: TaskErrorCode;

  constructor(errorCode: TaskErrorCode, message: string) {
    super(message);
    this.errorCode = errorCode;
  }
}

/** The agent's process has ended: its exit says more than any message. */
export class AgentExited extends Error {}

const AUTHENTICATION_REQUIRED = -32000;
/** How agents word a refusal by the vendor; read only in errors, never in a model's text. */
const wordings: readonly (readonly [RegExp, TaskErrorCode])[] = [
  [/\b40[13]\b|unauthori[sz]ed|authenticat|permission.?denied|api.?key|not logged in/i, "authentication_required"],
  [/\b429\b|rate.?limit|too many requests|quota|resource.?exhausted/i, "rate_limited"],
];

/** What an agent's error means. */
export function explainError(error: unknown, phase: "start" | "prompt", profile: Pick<AcpProfile, "explainError">): Outcome {
  if (error instanceof AcpFailure) return { status: "error", errorCode: error.errorCode, error: error.message };
  if (!(error instanceof RequestError)) throw error;
  const own = profile.explainError?.(error);
  if (own !== undefined) return own;
  return explainWords(wordsOf(error), phase, error.code === AUTHENTICATION_REQUIRED ? "authentication_required" : undefined);
}

/** What an agent's words about a failure mean; before the prompt, what they leave open is no fault of the model. */
export function explainWords(words: string, phase: "start" | "prompt", known?: TaskErrorCode): Outcome {
  const worded = wordings.find(([wording]) => wording.test(words))?.[1];
  const errorCode = known ?? worded ?? (phase === "prompt" ? "model_error" : "adapter_error");
  const advice = errorCode === "authentication_required" ? "\nCheck the credentials of the runtime." : "";
  return { status: "error", errorCode, error: `The agent reports: ${readableError(words.trim()).slice(0, 4_000)}${advice}` };
}

/** Message and data in one line: some agents put all that matters into the data. */
function wordsOf({ message, data }: RequestError): string {
  const details = data === undefined || data === null ? "" : typeof data === "string" ? data : JSON.stringify(data);
  return details === "" || details === "{}" ? message : `${message} ${details}`;
}
