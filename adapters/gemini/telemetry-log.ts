import path from "node:path";
import { openFileInside } from "@hak2i/nofollow-fs";
import { z } from "zod";
import type { ConnectionResult, ProgramTask } from "../shared/agent-program/agent-program.ts";
import type { Outcome } from "../shared/agent-program/run-program.ts";
import { failure } from "../shared/process/failure.ts";
import { createLineSplitter } from "../shared/process/lines.ts";
import type { AnswerText } from "./answer-text.ts";

/** Maximum length of a log record in UTF-16 code units. Longer records are skipped; relevant records are shorter than 1,000. */
const MAX_RECORD_LENGTH = 256 * 1024;

/** Facts from Gemini's telemetry that its output lacks: why the model stopped, and which text was discarded. */
interface ModelCalls {
  /** The failure of the task's last model call; null if it succeeded, or if the log does not report it. */
  failure: Outcome | null;
  /** Gemini discarded the text before this time, in ms since the epoch, unless a tool was called after that text; 0: it discarded none. */
  discardedBefore: number;
}

const NAMES = ["gemini", "calls.log"] as const;
const NO_RECORDS: ModelCalls = { failure: null, discardedBefore: 0 };

/** Returns the path of the file in which Gemini logs its model calls as OpenTelemetry records. `tmp` is the TMPDIR of the task. */
export const getTelemetryLogPath = (tmp: string): string => path.join(tmp, ...NAMES);

/** Corrects a success that Gemini reports, based on its log of model calls. */
export async function applyTelemetryLog(
  { request }: Pick<ProgramTask, "request">,
  result: ConnectionResult,
  answer: AnswerText,
): Promise<ConnectionResult> {
  if (result.status !== "ok") return result;
  const { failure, discardedBefore } = await readTelemetryLog(request.directories.tmp);
  if (failure !== null) return { ...result, ...failure };
  const output = answer.getTextSince(discardedBefore);
  // A retry of another call, such as a check after the answer, discards no text of the answer.
  return discardedBefore === 0 || output === "" ? result : { ...result, output };
}

/** Reads the log of a program that has exited. A task could have replaced it with a link, which is not followed. */
export async function readTelemetryLog(tmp: string): Promise<ModelCalls> {
  await using file = await openFileInside(tmp, NAMES);
  if (file === null) return NO_RECORDS;
  const reader = createTelemetryReader();
  const lines = createLineSplitter(MAX_RECORD_LENGTH, reader.read);
  for await (const chunk of file.createReadStream({ autoClose: false })) if (!lines.push(chunk as Buffer)) break;
  return reader.calls();
}

const timeSchema = z.iso.datetime().transform((text) => Date.parse(text));
const COMMON_FIELDS = { "event.timestamp": timeSchema };
const recordSchema = z.discriminatedUnion("event.name", [
  z.object({
    ...COMMON_FIELDS,
    "event.name": z.literal("gemini_cli.api_response"),
    role: z.string().default("main"),
    finish_reasons: z.array(z.string()),
  }),
  z.object({ ...COMMON_FIELDS, "event.name": z.literal("gemini_cli.chat.content_retry"), retry_delay_ms: z.number() }),
  z.object({ ...COMMON_FIELDS, "event.name": z.literal("gemini_cli.network_retry_attempt"), delay_ms: z.number() }),
  z.object({
    ...COMMON_FIELDS,
    "event.name": z.literal("gemini_cli.chat.content_retry_failure"),
    final_error_type: z.string().default("unknown"),
  }),
]);

/** Reads the records of a log line by line. Each is JSON over several lines, of which the first and the last are not indented. */
export function createTelemetryReader(): { read(line: string): void; calls(): ModelCalls } {
  let lines: string[] = [];
  let length = 0;
  let last = { at: 0, failure: null as Outcome | null };
  let discardedBefore = 0;

  const readRecord = (record: z.infer<typeof recordSchema>): void => {
    const at = record["event.timestamp"];
    if (record["event.name"] === "gemini_cli.api_response") {
      if (record.role === "main" && at >= last.at) last = { at, failure: explainReasons(record.finish_reasons) };
    } else if (record["event.name"] === "gemini_cli.chat.content_retry_failure") {
      if (at >= last.at)
        last = { at, failure: modelError(`Gemini CLI received no usable answer from the model (${record.final_error_type}).`) };
    } else {
      // No text of the next attempt arrives before its delay is over.
      const delayMs = "delay_ms" in record ? record.delay_ms : record.retry_delay_ms;
      discardedBefore = Math.max(discardedBefore, at + delayMs);
    }
  };
  return {
    read(line) {
      if (line === "{") [lines, length] = [[], 0];
      length += line.length;
      if (length > MAX_RECORD_LENGTH) return;
      lines.push(line);
      if (line !== "}") return;
      const record = recordSchema.safeParse(attributesOf(lines.join("\n")));
      if (record.success) readRecord(record.data);
    },
    calls: () => ({ failure: last.failure, discardedBefore }),
  };
}

const attributesSchema = z.object({ attributes: z.unknown() });

function attributesOf(json: string): unknown {
  // Most records are metrics, which are long; they are not parsed.
  if (!json.includes('"gemini_cli.')) return null;
  try {
    return attributesSchema.safeParse(JSON.parse(json)).data?.attributes;
  } catch {
    return null;
  }
}

/** Maps finish reasons, which OpenTelemetry limits to a few values. All chunks of an answer except the last one have the reason `stop`. */
function explainReasons(reasons: readonly string[]): Outcome | null {
  if (reasons.includes("length")) return modelError("The model reached its token limit, so its answer is truncated.");
  if (reasons.includes("content_filter")) return modelError("The model's provider withheld the answer.");
  if (reasons.includes("error")) return modelError("The model's answer ended in a malformed tool call.");
  return null;
}

const modelError = (error: string): Outcome => failure("model_error", error);
