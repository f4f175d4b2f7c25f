import { APICallError } from "ai";
import { z } from "zod";
import type { TaskErrorCode } from "#contract";
import type { Outcome } from "../shared/agent-program/run-program.ts";
import { redact } from "../shared/model-api/model-failure.ts";
import { scopeAdvice } from "./token-source.ts";

const reportSchema = z.object({
  code: z.union([z.number(), z.string()]).nullish(),
  name: z.string().nullish(),
  message: z.string().nullish(),
  retryable: z.boolean().nullish(),
});
type Report = z.infer<typeof reportSchema>;

/** An error inside of a stream: as the library wraps it, or as it came when it has no message. */
const streamErrorSchema = z.union([z.object({ data: reportSchema }).transform(({ data }) => data), reportSchema]);
const bodySchema = z.object({ error: z.union([reportSchema, z.string().transform((message): Report => ({ message }))]) });

/** What an error of Gloo means; undefined for one that is not Gloo's own. */
export function explainGlooError(error: unknown, secrets: readonly string[], now = Date.now()): Outcome | undefined {
  if (!APICallError.isInstance(error)) {
    const isOther = error instanceof Error && !("data" in error);
    const inStream = isOther ? undefined : streamErrorSchema.safeParse(error).data;
    return inStream === undefined ? undefined : explainReport(inStream, secrets);
  }
  const { statusCode, responseHeaders = {} } = error;
  if (statusCode === undefined) return undefined;
  if (statusCode === 401)
    return failed("authentication_required", "Gloo takes no token of this client (401): check GLOO_CLIENT_ID and GLOO_CLIENT_SECRET.");
  if (statusCode === 403) return failed("authentication_required", `The Gloo client may not call the model (403): ${scopeAdvice}.`);
  if (statusCode === 429)
    return failed("rate_limited", `Gloo's rate limit is reached (429)${whenOver(responseHeaders["x-ratelimit-reset"], now)}.`);
  const report = readBody(error.responseBody);
  return report === null ? undefined : explainReport(report, secrets, statusCode);
}

/** Whether it may be tried again is for whoever dispatched to decide: part of an answer may have been told. */
function explainReport({ code, name, message, retryable }: Report, secrets: readonly string[], statusCode?: number): Outcome {
  const title = redact([name ?? "an error", ...(code === null || code === undefined ? [] : [`(${code})`])].join(" "), secrets);
  const words = message === null || message === undefined || message === "" ? "" : `: ${redact(message, secrets)}`;
  const again = retryable === true ? " The same task may succeed when it is dispatched again." : "";
  const place = statusCode === undefined ? "" : ` with status ${statusCode}`;
  const limited = /RATE_LIMIT|QUOTA|TOO_MANY/i.test(`${name} ${code}`);
  return failed(
    limited ? "rate_limited" : "model_error",
    `Gloo reports ${title}${place}${words}${/[.!?]$/.test(words) ? "" : "."}${again}`,
  );
}

function readBody(body: string | undefined): Report | null {
  try {
    return bodySchema.parse(JSON.parse(body ?? "")).error;
  } catch {
    return null;
  }
}

/** The header holds a time, in seconds since 1970, or the seconds until then. */
function whenOver(header: string | undefined, now: number): string {
  const seconds = Number(header || Number.NaN);
  if (!Number.isFinite(seconds) || seconds < 0 || seconds > MAX_TIME_SECONDS) return "";
  const at = seconds < FIRST_TIME_SECONDS ? now + seconds * 1000 : seconds * 1000;
  return `; it is over at ${new Date(at).toISOString()}`;
}

/** A smaller number would be a time before 2001, a larger one no time at all. */
const FIRST_TIME_SECONDS = 1_000_000_000;
const MAX_TIME_SECONDS = 8_640_000_000_000;

const failed = (errorCode: TaskErrorCode, error: string): Outcome => ({ status: "error", errorCode, error });
