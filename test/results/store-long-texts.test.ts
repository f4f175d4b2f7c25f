import { statSync } from "node:fs";
import path from "node:path";
import { text as readText } from "node:stream/consumers";
import Database from "better-sqlite3";
import { describe, expect, test } from "vitest";
import type { ConversationMessage } from "#contract";
import { buildCallback } from "../../src/callbacks/callback-body.ts";
import type { Store } from "../../src/store/store.ts";
import type { StoredTask } from "../../src/store/tasks/interface.ts";
import type { Task } from "../../src/task.ts";
import { createInMemoryAdapter, type Run } from "../adapters/in-memory-adapter.ts";
import { caller, newDispatch, startEngine } from "../dispatch/engine.ts";

const MEBIBYTE = 1024 ** 2;
const callbackUrl = "http://127.0.0.1:9/hook";

/** Size of the database file once it holds all that was committed: how large the write-ahead log is depends on when it was last copied. */
function measureStoredBytes(file: string): number {
  const database = new Database(file);
  try {
    const [{ busy }] = database.pragma("wal_checkpoint(TRUNCATE)") as [{ busy: number }];
    expect(busy).toBe(0);
    return statSync(file).size;
  } finally {
    database.close();
  }
}

/** Runs a task to its end, and returns what is stored of it. */
async function end(run: Run) {
  const engine = await startEngine([createInMemoryAdapter({ run })]);
  const { dispatcher, store, dataDir } = engine;
  const databaseBytes = (): number => measureStoredBytes(path.join(dataDir, "bridge.db"));
  const before = databaseBytes();
  const { task: accepted } = await dispatcher.admitTask(newDispatch({ request: { callbackUrl } }), caller);
  await dispatcher.waitForEnd(accepted, 60_000);
  const task = (await store.findTask("default", accepted.taskId)) as Task;
  return { ...engine, task, growth: databaseBytes() - before };
}

const emitTexts =
  (texts: readonly string[], output?: string, conversationMessages?: ConversationMessage[]): Run =>
  async (_request, emit) => {
    for (const content of texts) emit("assistant.text", { content });
    return { output: output ?? texts.join(""), ...(conversationMessages !== undefined && { conversationMessages }) };
  };

const measureEncodedSize = (text: string): number => Buffer.byteLength(JSON.stringify(text)) - 2;

async function bodyOf(store: Store): Promise<string> {
  const [due] = await store.listDueCallbacks({ tenant: "default", receiver: "http://127.0.0.1:9" }, 1);
  if (due?.readBody === undefined) return due?.body ?? "";
  return await readText(due.readBody());
}

describe("a long text", () => {
  test.each([
    ["of plain characters", "x", 16 * MEBIBYTE],
    ["of control characters", "\u0001", 4 * MEBIBYTE],
    ["of characters of three bytes", "\ufffd", 6 * MEBIBYTE],
  ])("%s is stored once for event, result, conversation and callback", async (_name, character, length) => {
    const part = `${character.repeat(1000)}\n`;
    const texts = Array.from({ length: Math.floor(length / part.length / 64) }, () => part.repeat(64));
    const { task, growth } = await end(emitTexts(texts));
    expect(task.result?.output).toBe(texts.join(""));
    expect(growth).toBeLessThan(1.5 * measureEncodedSize(texts.join("")));
  });

  test("a long text is stored once for result, conversation and callback if no event contains it", async () => {
    const output = "0123456789".repeat(MEBIBYTE / 4);
    const conversation: ConversationMessage[] = [
      { role: "user", content: "hello" },
      { role: "assistant", content: output },
    ];
    const { task, growth } = await end(emitTexts([], output, conversation));
    expect(task.result).toMatchObject({ output, conversationMessages: conversation });
    expect(growth).toBeLessThan(1.5 * measureEncodedSize(output));
  });

  test.each([
    ["one text", [`${"a".repeat(200_000)}"\\\n\u0001`, "end"], undefined],
    ["characters of two units where texts are cut", ["😀".repeat(100_000), "\ud83d", "\ude00".repeat(3)], undefined],
    ["a result of its own", ["begun"], "😀".repeat(150_000)],
    ["half a pair at the end of a chunk", [], `${"x".repeat(65_535)}😀${"y".repeat(200_000)}\ud800`],
    ["an output and a conversation of several long texts", ["a".repeat(200_000)], "b".repeat(200_000)],
    ["a text that looks like a gap", ["gap-0-0", "x".repeat(200_000)], undefined],
  ] as [string, string[], string | undefined][])("a long text is read unchanged: %s", async (_name, texts, output) => {
    const { task, store } = await end(emitTexts(texts, output));
    const whole = (output ?? texts.join("")).toWellFormed();
    expect(task.result?.output?.toWellFormed()).toBe(whole);
    const { readResult } = (await store.findStoredTask("default", task.taskId)) as StoredTask;
    const json = readResult === null ? "" : await readText(readResult());
    expect(JSON.parse(json)).toEqual(task.result);
    const body = buildCallback(task, task.result as NonNullable<Task["result"]>, task.finishedAt as number).body;
    expect(await bodyOf(store)).toBe(body);
    expect(await bodyOf(store)).toBe(body);
  });

  test("a long text does not block the event loop while it is stored and read", async () => {
    const texts = Array.from({ length: 256 }, () => "x".repeat(64 * 1024));
    let turns = 0;
    let isOver = false;
    const countTurns = (): void => {
      turns += 1;
      if (!isOver) setImmediate(countTurns);
    };
    countTurns();
    const { store, task } = await end(emitTexts(texts));
    const written = turns;
    await bodyOf(store);
    isOver = true;
    // Texts are written in slices of 512 KiB and read in slices of 256 KiB.
    expect(written).toBeGreaterThan(32);
    expect(turns - written).toBeGreaterThan(60);
    expect(task.result?.output).toHaveLength(16 * MEBIBYTE);
  });
});

test("a short text is stored inline", async () => {
  const { task, store } = await end(emitTexts(["hello"]));
  expect(task.result).toMatchObject({ output: "hello" });
  expect((await store.findStoredTask("default", task.taskId))?.readResult).toBeNull();
  expect((await store.listDueCallbacks({ tenant: "default", receiver: "http://127.0.0.1:9" }, 1))[0]).not.toHaveProperty("readBody");
});
