import { APICallError } from "ai";
import { z } from "zod";
import type { Outcome } from "../shared/agent-program/run-program.ts";
import { redact } from "../shared/model-api/model-failure.ts";
import { failure } from "../shared/process/failure.ts";
import { SCOPE_ADVICE } from "./token-source.ts";

const reportSchema = z.object({
  code: z.union([z.number(), z.string()]).nullish(),
  name: z.string().nullish(),
  message: z.string().nullish(),
  retryable: z.boolean().nullish(),
});
type Report = z.infer<typeof reportSchema>;

/** An error inside a stream: wrapped by the library, or unchanged if it has no message. */
const streamErrorSchema = z.union([z.object({ data: reportSchema }).transform(({ data }) => data), reportSchema]);
const bodySchema = z.object({ error: z.union([reportSchema, z.string().transform((message): Report => ({ message }))]) });

/** Maps an error of Gloo to an outcome; undefined if the error is not from Gloo. */
export function explainGlooError(error: unknown, secrets: readonly string[], now = Date.now()): Outcome | undefined {
  if (!APICallError.isInstance(error)) {
    const isOther = error instanceof Error && !("data" in error);
    const streamError = isOther ? undefined : streamErrorSchema.safeParse(error).data;
    return streamError === undefined ? undefined : explainReport(streamError, secrets);
  }
  const { statusCode, responseHeaders = {} } = error;
  if (statusCode === undefined) return undefined;
  if (statusCode === 401)
    return failure("authentication_required", "Gloo rejected the client's token (401). Check GLOO_CLIENT_ID and GLOO_CLIENT_SECRET.");
  if (statusCode === 403)
    return failure("authentication_required", `The Gloo client is not allowed to call the model (403). To fix this, ${SCOPE_ADVICE}.`);
  if (statusCode === 429)
    return failure("rate_limited", `Gloo's rate limit is exceeded (429)${formatReset(responseHeaders["x-ratelimit-reset"], now)}.`);
  const report = readBody(error.responseBody);
  return report === null ? undefined : explainReport(report, secrets, statusCode);
}

/** Maps an error report to an outcome. Bridge does not retry, because it may have emitted part of an answer; the caller decides. */
function explainReport({ code, name, message, retryable }: Report, secrets: readonly string[], statusCode?: number): Outcome {
  const title = redact([name ?? "an error", ...(code === null || code === undefined ? [] : [`(${code})`])].join(" "), secrets);
  const text = message === null || message === undefined || message === "" ? "" : `: ${redact(message, secrets)}`;
  const advice = retryable === true ? " A new dispatch of the same task may succeed." : "";
  const status = statusCode === undefined ? "" : ` with status ${statusCode}`;
  const isLimited = /RATE_LIMIT|QUOTA|TOO_MANY/i.test(`${name} ${code}`);
  return failure(
    isLimited ? "rate_limited" : "model_error",
    `Gloo reports ${title}${status}${text}${/[.!?]$/.test(text) ? "" : "."}${advice}`,
  );
}

function readBody(body: string | undefined): Report | null {
  try {
    return bodySchema.parse(JSON.parse(body ?? "")).error;
  } catch {
    return null;
  }
}

/** Formats the reset time of the rate limit. The header contains a Unix time in seconds, or the seconds until the reset. */
function formatReset(header: string | undefined, now: number): string {
  const seconds = Number(header || Number.NaN);
  if (!Number.isFinite(seconds) || seconds < 0 || seconds > MAX_UNIX_SECONDS) return "";
  const resetAt = seconds < MIN_UNIX_SECONDS ? now + seconds * 1000 : seconds * 1000;
  return `; it resets at ${new Date(resetAt).toISOString()}`;
}

/** Smaller numbers are durations, because as Unix times they would be before 2001. */
const MIN_UNIX_SECONDS = 1_000_000_000;
/** The largest time that Date supports. */
const MAX_UNIX_SECONDS = 8_640_000_000_000;
