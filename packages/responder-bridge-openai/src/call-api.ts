import { type Dispatcher, fetch, type Response } from "undici";
import { OpenAiError } from "./openai-error.ts";

/** One request to the API. */
export interface ApiCall {
  target: string;
  /** Null: no key is sent. */
  apiKey: string | null;
  body: object;
  timeoutMs: number;
  signal: AbortSignal | undefined;
  dispatcher: Dispatcher;
}

/** Maximum size of a response. */
const MAX_RESPONSE_BYTES = 32 * 1024 ** 2;
/** Maximum number of characters of a response in an error message. */
const MAX_REASON_LENGTH = 500;

/** Sends one request and returns the JSON of its response. Rejects with an `OpenAiError`, or with the reason of the aborted signal. */
export async function callApi({ target, apiKey, body, timeoutMs, signal, dispatcher }: ApiCall): Promise<unknown> {
  signal?.throwIfAborted();
  const timeout = AbortSignal.timeout(timeoutMs);
  try {
    const response = await fetch(target, {
      method: "POST",
      headers: { "content-type": "application/json", ...(apiKey !== null && { authorization: `Bearer ${apiKey}` }) },
      body: JSON.stringify(body),
      signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
      // A redirect would send the materials to another address.
      redirect: "manual",
      dispatcher,
    });
    const text = await readText(response);
    if (!response.ok) throw createResponseError(response, text, apiKey);
    return parse(text, response.status);
  } catch (error) {
    if (error instanceof OpenAiError) throw error;
    signal?.throwIfAborted();
    const failure = timeout.aborted ? `did not answer within ${timeoutMs} ms` : `cannot be reached: ${describeFault(error)}`;
    throw new OpenAiError(`The model API at ${originOf(target)} ${failure}.`, { isRetryable: true, cause: error });
  }
}

async function readText(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > MAX_RESPONSE_BYTES) throw new OpenAiError(`The response of the model API exceeds ${MAX_RESPONSE_BYTES} bytes.`);
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

function parse(text: string, status: number): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new OpenAiError(
      "The response of the model API is not JSON. Check that the base URL is an OpenAI-compatible API and ends with /v1.",
      { status },
    );
  }
}

/** Statuses of temporary failures. */
const RETRYABLE_STATUSES = new Set([408, 409, 425, 429, 500, 502, 503, 504, 529]);

function createResponseError({ status, headers }: Response, text: string, apiKey: string | null): OpenAiError {
  const { message, code } = readError(text);
  const reason = redact(message ?? text, apiKey)
    .slice(0, MAX_REASON_LENGTH)
    .trim();
  return new OpenAiError(`The model API returned ${status}. ${hints[status] ?? ""} ${reason}`.replace(/ +/g, " ").trim(), {
    status,
    // 429 also means that the quota of the account is used up; a retry does not help then.
    isRetryable: RETRYABLE_STATUSES.has(status) && code !== "insufficient_quota",
    retryAfterMs: readRetryAfter(headers.get("retry-after")),
  });
}

const hints: Readonly<Record<number, string>> = {
  401: "Check the API key.",
  404: "Check the name of the model, and that the base URL ends with /v1.",
};

function readError(text: string): { message?: string | undefined; code?: unknown } {
  try {
    const { error } = JSON.parse(text) as { error?: { message?: unknown; code?: unknown } };
    return { message: typeof error?.message === "string" ? error.message : undefined, code: error?.code };
  } catch {
    return {};
  }
}

/** Removes the key: an API may repeat it, or part of it, in the error that rejects it. */
function redact(text: string, apiKey: string | null): string {
  const whole = apiKey === null || apiKey === "" ? text : text.replaceAll(apiKey, "[key]");
  return whole.replace(/\b(sk|key)-[\w*-]{6,}/g, "[key]");
}

/** Returns the duration in ms of a `retry-after` header, which contains seconds or a date. */
function readRetryAfter(value: string | null): number | null {
  if (value === null) return null;
  const ms = /^\d+(\.\d+)?$/.test(value.trim()) ? Number(value) * 1_000 : Date.parse(value) - Date.now();
  return Number.isNaN(ms) ? null : Math.max(ms, 0);
}

/** Returns the cause of the generic error "fetch failed". */
function describeFault(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  if (!(cause instanceof Error)) return error.message;
  return cause.message || String((cause as NodeJS.ErrnoException).code);
}

const originOf = (target: string): string => new URL(target).origin;
