import { copyFileSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { createSpokenText, type SpokenText } from "../../../adapters/gemini/answer-text.ts";
import { createGeminiReader } from "../../../adapters/gemini/events.ts";
import { judgeAnswer } from "../../../adapters/gemini/judge-answer.ts";
import { createCallReader, readCallLog } from "../../../adapters/gemini/telemetry-log.ts";
import type { ProgramTask } from "../../../adapters/shared/agent-program/agent-program.ts";
import { temporaryDirectory } from "../../temporary-directory.ts";

const recorded = (name: string): string => path.join(import.meta.dirname, "recorded", name);

/** A TMPDIR with a log that was recorded with Gemini CLI 0.61.0, without the records that do not matter. */
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
  const reader = createCallReader();
  for (const line of records.join("\n").split("\n")) reader.read(line);
  return reader.calls();
}

const cutShort = { status: "error", errorCode: "model_error", error: expect.stringContaining("cut short") };

test.each<[string, string[], unknown]>([
  ["an answer that ended well", [answered(["stop", "stop"])], null],
  ["one that was cut short", [answered(["stop", "length"])], cutShort],
  ["one that was withheld", [answered(["content_filter"])], { error: expect.stringContaining("withheld") }],
  ["one that ended in a broken call", [answered(["error"])], { error: expect.stringContaining("tool call") }],
  ["the last of several", [answered(["length"], 1), answered(["stop"], 2)], null],
  ["the last by time, not by place", [answered(["stop"], 2), answered(["length"], 1)], null],
  ["that of a helper", [answered(["stop"], 1), answered(["length"], 2, "utility_router")], null],
  [
    "no answer at all",
    [record("chat.content_retry_failure", { final_error_type: "SAFETY_BLOCKED" })],
    { error: expect.stringContaining("SAFETY_BLOCKED") },
  ],
  ["other records", [record("config"), "{", '  "resource": {},', "}", "no JSON"], null],
])("why the model stopped: %s", (_, records, failure) => {
  const { failure: found } = readRecords(...records);
  if (failure === null) expect(found).toBeNull();
  else expect(found).toMatchObject(failure as object);
});

test("text from before the next try is discarded, after a broken stream and after an unusable answer", () => {
  expect(readRecords(answered(["stop"])).discardedBefore).toBe(0);
  expect(readRecords(record("network_retry_attempt", { delay_ms: 500 }, 1_000)).discardedBefore).toBe(1_500);
  const later = record("chat.content_retry", { retry_delay_ms: 200 }, 2_000);
  expect(readRecords(record("network_retry_attempt", { delay_ms: 500 }, 1_000), later).discardedBefore).toBe(2_200);
});

test("an answer is kept if no text follows the retry, or if the program reports no times", async () => {
  const tmp = await temporaryDirectory();
  mkdirSync(path.join(tmp, "gemini"));
  writeFileSync(path.join(tmp, "gemini", "calls.log"), `${record("network_retry_attempt", { delay_ms: 500 }, 1_000)}\n`);
  const task = { request: { directories: { tmp } } } as unknown as ProgramTask;
  for (const at of [900, Number.NaN]) {
    const spoken = createSpokenText();
    spoken.say("The answer.", at);
    expect(await judgeAnswer(task, { status: "ok" }, spoken)).toEqual({ status: "ok" });
  }
});

test("a record that is too long is passed over, and the next one is read", () => {
  const long = JSON.stringify({ attributes: { "event.name": "gemini_cli.api_response", text: "x".repeat(300_000) } }, null, 2);
  expect(readRecords(long, answered(["length"])).failure).toMatchObject(cutShort);
});

test("a log that is a link, or is not there, says nothing", async () => {
  const tmp = await temporaryDirectory();
  expect(await readCallLog(tmp)).toEqual({ failure: null, discardedBefore: 0 });
  mkdirSync(path.join(tmp, "gemini"));
  writeFileSync(path.join(tmp, "elsewhere"), `${answered(["length"])}\n`);
  symlinkSync(path.join(tmp, "elsewhere"), path.join(tmp, "gemini", "calls.log"));
  expect((await readCallLog(tmp)).failure).toBeNull();
});

describe("a recorded task", () => {
  const judge = async (name: string, spoken: SpokenText, status: "ok" | "error" = "ok") =>
    await judgeAnswer({ request: { directories: { tmp: await logged(name) } } } as unknown as ProgramTask, { status }, spoken);

  test("whose stream broke has the answer of its second try", async () => {
    const { read, spoken } = createGeminiReader();
    for (const line of readFileSync(recorded("broken-text.jsonl"), "utf8").split("\n").filter(Boolean)) read(JSON.parse(line));
    expect(spoken.since(0)).toBe("This sentence is brokenThe whole answer.");
    expect(await judge("broken-text", spoken)).toEqual({ status: "ok", output: "The whole answer." });
  });

  test.each([
    ["cut-short", "cut short"],
    ["blocked", "SAFETY_BLOCKED"],
  ])("that was %s is a failure, whatever the program reports", async (name, words) => {
    const judged = await judge(name, createSpokenText());
    expect(judged).toEqual({ status: "error", errorCode: "model_error", error: expect.stringContaining(words) });
  });

  test("that failed keeps the reason that the program gave", async () => {
    expect(await judge("cut-short", createSpokenText(), "error")).toEqual({ status: "error" });
  });
});

test("text before a tool is not part of the answer", () => {
  const spoken = createSpokenText();
  spoken.say("I look. ", 1);
  spoken.clear();
  spoken.say("Half", 2);
  spoken.say("Whole.", 3);
  expect([spoken.since(0), spoken.since(3)]).toEqual(["HalfWhole.", "Whole."]);
});
