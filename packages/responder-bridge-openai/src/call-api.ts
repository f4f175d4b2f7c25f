import { type Dispatcher, fetch, type Response } from "undici";
import { OpenAiError } from "./openai-error.ts";

/** One request to an API. */
export interface ApiCall {
  target: string;
  /** Null: none is sent. */
  apiKey: string | null;
  body: object;
  timeoutMs: number;
  signal: AbortSignal | undefined;
  dispatcher: Dispatcher;
}

/** No document is as long. */
const MAX_ANSWER_BYTES = 32 * 1024 ** 2;
/** How much of a refusal an error shows. */
const REFUSAL_LENGTH = 500;

/** Sends one request and answers its JSON; whatever is none is an `OpenAiError`, but for the caller's abort, which throws its reason. */
export async function callApi({ target, apiKey, body, timeoutMs, signal, dispatcher }: ApiCall): Promise<unknown> {
  signal?.throwIfAborted();
  const timeout = AbortSignal.timeout(timeoutMs);
  try {
    const response = await fetch(target, {
      method: "POST",
      headers: { "content-type": "application/json", ...(apiKey !== null && { authorization: `Bearer ${apiKey}` }) },
      body: JSON.stringify(body),
      signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
      // The materials are for the address that was named, and for no other.
      redirect: "manual",
      dispatcher,
    });
    const text = await readText(response);
    if (!response.ok) throw refusal(response, text, apiKey);
    return parse(text, response.status);
  } catch (error) {
    if (error instanceof OpenAiError) throw error;
    signal?.throwIfAborted();
    const what = timeout.aborted ? `did not answer within ${timeoutMs} ms` : `cannot be reached: ${describeFault(error)}`;
    throw new OpenAiError(`The model API at ${originOf(target)} ${what}.`, { canBeTriedAgain: true, cause: error });
  }
}

async function readText(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > MAX_ANSWER_BYTES) throw new OpenAiError(`The answer of the model API is larger than ${MAX_ANSWER_BYTES} bytes.`);
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

function parse(text: string, status: number): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new OpenAiError("The answer is no JSON: is the address that of an OpenAI-compatible API, with its /v1?", { status });
  }
}

/** Later it may work: busy, too many, or a fault of the moment. */
const passing = new Set([408, 409, 425, 429, 500, 502, 503, 504, 529]);

function refusal({ status, headers }: Response, text: string, apiKey: string | null): OpenAiError {
  const { message, code } = readError(text);
  const words = redact(message ?? text, apiKey)
    .slice(0, REFUSAL_LENGTH)
    .trim();
  return new OpenAiError(`The model API answered ${status}. ${hints[status] ?? ""} ${words}`.replace(/ +/g, " ").trim(), {
    status,
    // 429 also stands for an account without means, which waiting does not mend.
    canBeTriedAgain: passing.has(status) && code !== "insufficient_quota",
    retryAfterMs: readRetryAfter(headers.get("retry-after")),
  });
}

const hints: Readonly<Record<number, string>> = {
  401: "Is the key right?",
  404: "Is the model's name right, and does the address have its /v1?",
};

function readError(text: string): { message?: string | undefined; code?: unknown } {
  try {
    const { error } = JSON.parse(text) as { error?: { message?: unknown; code?: unknown } };
    return { message: typeof error?.message === "string" ? error.message : undefined, code: error?.code };
  } catch {
    return {};
  }
}

/** An API may repeat the key that it refuses, also in part. */
function redact(text: string, apiKey: string | null): string {
  const whole = apiKey === null || apiKey === "" ? text : text.replaceAll(apiKey, "[key]");
  return whole.replace(/\b(sk|key)-[\w*-]{6,}/g, "[key]");
}

/** Seconds, or a date. */
function readRetryAfter(value: string | null): number | null {
  if (value === null) return null;
  const ms = /^\d+(\.\d+)?$/.test(value.trim()) ? Number(value) * 1_000 : Date.parse(value) - Date.now();
  return Number.isNaN(ms) ? null : Math.max(ms, 0);
}

/** What stands behind `fetch failed`. */
function describeFault(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  if (!(cause instanceof Error)) return error.message;
  return cause.message || String((cause as NodeJS.ErrnoException).code);
}

const originOf = (target: string): string => new URL(target).origin;
