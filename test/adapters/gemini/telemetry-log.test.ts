import { copyFileSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { type AnswerText, createAnswerText } from "../../../adapters/gemini/answer-text.ts";
import { createGeminiReader } from "../../../adapters/gemini/events.ts";
import { applyTelemetryLog, createTelemetryReader, readTelemetryLog } from "../../../adapters/gemini/telemetry-log.ts";
import type { ProgramTask } from "../../../adapters/shared/agent-program/agent-program.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

const recorded = (name: string): string => path.join(import.meta.dirname, "recorded", name);

/** Creates a TMPDIR with a log that was recorded with Gemini CLI 0.61.0, without irrelevant records. */
async function logged(name: string): Promise<string> {
  const tmp = await temporaryDirectory();
  mkdirSync(path.join(tmp, "gemini"));
  copyFileSync(recorded(`calls-${name}.txt`), path.join(tmp, "gemini", "calls.log"));
  return tmp;
}

const record = (name: string, fields: object = {}, at = 1_000) =>
  JSON.stringify({ attributes: { "event.name": `gemini_cli.${name}`, "event.timestamp": new Date(at).toISOString(), ...fields } }, null, 2);
const answered = (reasons: string[], at?: number, role = "main") => record("api_response", { role, finish_reasons: reasons }, at);

function readRecords(...records: string[]) {
  const reader = createTelemetryReader();
  for (const line of records.join("\n").split("\n")) reader.read(line);
  return reader.calls();
}

const truncated = { status: "error", errorCode: "model_error", error: expect.stringContaining("truncated") };

test.each<[string, string[], unknown]>([
  ["a complete answer", [answered(["stop", "stop"])], null],
  ["a truncated answer", [answered(["stop", "length"])], truncated],
  ["a withheld answer", [answered(["content_filter"])], { error: expect.stringContaining("withheld") }],
  ["a malformed tool call", [answered(["error"])], { error: expect.stringContaining("tool call") }],
  ["the last of several answers", [answered(["length"], 1), answered(["stop"], 2)], null],
  ["the last answer by time, not by position", [answered(["stop"], 2), answered(["length"], 1)], null],
  ["the answer of a helper model", [answered(["stop"], 1), answered(["length"], 2, "utility_router")], null],
  [
    "no answer",
    [record("chat.content_retry_failure", { final_error_type: "SAFETY_BLOCKED" })],
    { error: expect.stringContaining("SAFETY_BLOCKED") },
  ],
  ["other records", [record("config"), "{", '  "resource": {},', "}", "no JSON"], null],
])("the telemetry log shows why the model stopped: %s", (_, records, failure) => {
  const { failure: found } = readRecords(...records);
  if (failure === null) expect(found).toBeNull();
  else expect(found).toMatchObject(failure as object);
});

test("text before a retry is discarded after a broken stream and after an unusable answer", () => {
  expect(readRecords(answered(["stop"])).discardedBefore).toBe(0);
  expect(readRecords(record("network_retry_attempt", { delay_ms: 500 }, 1_000)).discardedBefore).toBe(1_500);
  const later = record("chat.content_retry", { retry_delay_ms: 200 }, 2_000);
  expect(readRecords(record("network_retry_attempt", { delay_ms: 500 }, 1_000), later).discardedBefore).toBe(2_200);
});

test("an answer is kept if no text follows the retry, or if Gemini reports no times", async () => {
  const tmp = await temporaryDirectory();
  mkdirSync(path.join(tmp, "gemini"));
  writeFileSync(path.join(tmp, "gemini", "calls.log"), `${record("network_retry_attempt", { delay_ms: 500 }, 1_000)}\n`);
  const task = { request: { directories: { tmp } } } as unknown as ProgramTask;
  for (const at of [900, Number.NaN]) {
    const answer = createAnswerText();
    answer.add("The answer.", at);
    expect(await applyTelemetryLog(task, { status: "ok" }, answer)).toEqual({ status: "ok" });
  }
});

test("a record that is too long is skipped, and the next one is read", () => {
  const long = JSON.stringify({ attributes: { "event.name": "gemini_cli.api_response", text: "x".repeat(300_000) } }, null, 2);
  expect(readRecords(long, answered(["length"])).failure).toMatchObject(truncated);
});

test("a missing log and a log that is a link contain no records", async () => {
  const tmp = await temporaryDirectory();
  expect(await readTelemetryLog(tmp)).toEqual({ failure: null, discardedBefore: 0 });
  mkdirSync(path.join(tmp, "gemini"));
  writeFileSync(path.join(tmp, "elsewhere"), `${answered(["length"])}\n`);
  symlinkSync(path.join(tmp, "elsewhere"), path.join(tmp, "gemini", "calls.log"));
  expect((await readTelemetryLog(tmp)).failure).toBeNull();
});

describe("a recorded task of Gemini CLI", () => {
  const applyRecorded = async (name: string, answer: AnswerText, status: "ok" | "error" = "ok") =>
    await applyTelemetryLog({ request: { directories: { tmp: await logged(name) } } } as unknown as ProgramTask, { status }, answer);

  test("a recorded task of Gemini CLI whose stream broke has the answer of its second attempt", async () => {
    const { read, answer } = createGeminiReader();
    for (const line of readFileSync(recorded("broken-text.jsonl"), "utf8").split("\n").filter(Boolean)) read(JSON.parse(line));
    expect(answer.getTextSince(0)).toBe("This sentence is brokenThe whole answer.");
    expect(await applyRecorded("broken-text", answer)).toEqual({ status: "ok", output: "The whole answer." });
  });

  test.each([
    ["cut-short", "truncated"],
    ["blocked", "SAFETY_BLOCKED"],
  ])("a recorded task of Gemini CLI that was %s fails although Gemini reports success", async (name, words) => {
    const result = await applyRecorded(name, createAnswerText());
    expect(result).toEqual({ status: "error", errorCode: "model_error", error: expect.stringContaining(words) });
  });

  test("a recorded task of Gemini CLI that failed keeps the reason that Gemini reported", async () => {
    expect(await applyRecorded("cut-short", createAnswerText(), "error")).toEqual({ status: "error" });
  });
});

test("text before a tool call is not part of the answer", () => {
  const answer = createAnswerText();
  answer.add("I look. ", 1);
  answer.clear();
  answer.add("Half", 2);
  answer.add("Whole.", 3);
  expect([answer.getTextSince(0), answer.getTextSince(3)]).toEqual(["HalfWhole.", "Whole."]);
});
