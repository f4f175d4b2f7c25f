import path from "node:path";
import { openFileInside } from "@hak2i/nofollow-fs";
import { z } from "zod";
import type { Verdict } from "../shared/agent-program/run-program.ts";
import { createLineSplitter } from "../shared/process/lines.ts";

/** Longer log records are skipped; relevant records have less than a kilobyte. */
const MAX_RECORD_LENGTH = 256 * 1024;

/** Facts from the program's own log that its output lacks: why the model stopped, and which text was discarded. */
interface ModelCalls {
  /** The failure of the task's last model call; null if it succeeded, or if the log does not report it. */
  failure: Verdict | null;
  /** Text from before this time, in ms since the epoch, is discarded unless a tool was used since; 0: none. */
  discardedBefore: number;
}

const NAMES = ["gemini", "calls.log"] as const;
const nothing: ModelCalls = { failure: null, discardedBefore: 0 };

/** Path of the file in which the program logs its model calls as OpenTelemetry records. `tmp` is the TMPDIR of the task. */
export const callLogFile = (tmp: string): string => path.join(tmp, ...NAMES);

/** Reads the log of a program that has ended. A task could have replaced it by a link, which is not followed. */
export async function readCallLog(tmp: string): Promise<ModelCalls> {
  await using file = await openFileInside(tmp, NAMES);
  if (file === null) return nothing;
  const reader = createCallReader();
  const lines = createLineSplitter(MAX_RECORD_LENGTH, reader.read);
  for await (const chunk of file.createReadStream({ autoClose: false })) if (!lines.push(chunk as Buffer)) break;
  return reader.calls();
}

const time = z.iso.datetime().transform((text) => Date.parse(text));
const common = { "event.timestamp": time };
const recordSchema = z.discriminatedUnion("event.name", [
  z.object({
    ...common,
    "event.name": z.literal("gemini_cli.api_response"),
    role: z.string().default("main"),
    finish_reasons: z.array(z.string()),
  }),
  z.object({ ...common, "event.name": z.literal("gemini_cli.chat.content_retry"), retry_delay_ms: z.number() }),
  z.object({ ...common, "event.name": z.literal("gemini_cli.network_retry_attempt"), delay_ms: z.number() }),
  z.object({
    ...common,
    "event.name": z.literal("gemini_cli.chat.content_retry_failure"),
    final_error_type: z.string().default("unknown"),
  }),
]);

/** Reads the records of a log line by line: each is JSON over several lines, of which the first and the last are not indented. */
export function createCallReader(): { read(line: string): void; calls(): ModelCalls } {
  let lines: string[] = [];
  let length = 0;
  let last = { at: 0, failure: null as Verdict | null };
  let discardedBefore = 0;

  const take = (record: z.infer<typeof recordSchema>): void => {
    const at = record["event.timestamp"];
    if (record["event.name"] === "gemini_cli.api_response") {
      if (record.role === "main" && at >= last.at) last = { at, failure: explainReasons(record.finish_reasons) };
    } else if (record["event.name"] === "gemini_cli.chat.content_retry_failure") {
      if (at >= last.at)
        last = { at, failure: modelError(`Gemini CLI received no usable answer from the model (${record.final_error_type}).`) };
    } else {
      // The text of the next try cannot come before its delay is over.
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
      if (record.success) take(record.data);
    },
    calls: () => ({ failure: last.failure, discardedBefore }),
  };
}

const attributesSchema = z.object({ attributes: z.unknown() });

function attributesOf(json: string): unknown {
  // Most records are measurements, which are long.
  if (!json.includes('"gemini_cli.')) return null;
  try {
    return attributesSchema.safeParse(JSON.parse(json)).data?.attributes;
  } catch {
    return null;
  }
}

/** The log has the vendor's reasons in the few words of OpenTelemetry. Pieces of an answer that are not its last count as `stop`. */
function explainReasons(reasons: readonly string[]): Verdict | null {
  if (reasons.includes("length")) return modelError("The model reached its token limit: its answer is cut short.");
  if (reasons.includes("content_filter")) return modelError("The model's provider withheld the answer.");
  if (reasons.includes("error")) return modelError("The model's answer ended in a malformed tool call.");
  return null;
}

const modelError = (error: string): Verdict => ({ status: "error", errorCode: "model_error", error });
