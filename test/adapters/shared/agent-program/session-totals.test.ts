import { mkdir, readdir, stat, utimes, writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { createSessionTotals, removeOldTotals } from "../../../../adapters/shared/agent-program/session-totals.ts";
import { temporaryDirectory } from "../../../support/temporary-directory.ts";

const day = 24 * 3600 * 1000;
const total = (inputTokens: number) => ({ usage: { inputTokens, outputTokens: 1 }, costUsd: inputTokens / 100 });

async function openTotals() {
  const root = await temporaryDirectory();
  const directory = path.join(root, "sessions");
  return { root, directory, totals: createSessionTotals(directory) };
}

test("the total of an unknown session is null, not 0", async () => {
  const { totals } = await openTotals();
  expect(await totals.read("/home", "s")).toBeNull();
});

test("the last total of a session is read back, also by the next process", async () => {
  const { totals, directory } = await openTotals();
  await totals.write("/home", "s", total(1));
  await totals.write("/home", "s", total(2));
  expect(await totals.read("/home", "s")).toEqual(total(2));
  expect(await createSessionTotals(directory).read("/home", "s")).toEqual(total(2));
});

test("the same session id in two homes has two totals", async () => {
  const { totals } = await openTotals();
  await totals.write("/a", "b", total(1));
  await totals.write("/a/b", "", total(2));
  expect([await totals.read("/a", "b"), await totals.read("/a/b", ""), await totals.read("/", "a/b")]).toEqual([total(1), total(2), null]);
});

test.each(["../../escaped", "/etc/passwd", "a\0b", "", ".", "x".repeat(10_000), "\ud800", "con", "名前"])(
  "an id like %j stays inside the directory",
  async (session) => {
    const { totals, directory, root } = await openTotals();
    await totals.write("/home", session, total(3));
    expect(await totals.read("/home", session)).toEqual(total(3));
    expect(await readdir(root)).toEqual(["sessions"]);
    expect(await readdir(directory)).toEqual([expect.stringMatching(/^[0-9a-f]{64}\.json$/)]);
  },
);

test.each(["", "{", "null", "[]", '{"costUsd":-1}', '{"usage":{"inputTokens":"1"}}'])(
  "a file with the content %j is an unknown session",
  async (text) => {
    const { totals, directory } = await openTotals();
    await totals.write("/home", "s", total(1));
    const [name = ""] = await readdir(directory);
    await writeFile(path.join(directory, name), text);
    expect(await totals.read("/home", "s")).toBeNull();
    await totals.write("/home", "s", total(2));
    expect(await totals.read("/home", "s")).toEqual(total(2));
  },
);

test("concurrent writes leave one complete total and no temporary files", async () => {
  const { totals, directory } = await openTotals();
  const candidates = Array.from({ length: 20 }, (_, index) => total(index));
  await Promise.all(candidates.map((each) => totals.write("/home", "s", each)));
  expect(candidates).toContainEqual(await totals.read("/home", "s"));
  expect(await readdir(directory)).toHaveLength(1);
});

test("only the owner can read the totals", async () => {
  const { totals, directory } = await openTotals();
  await totals.write("/home", "s", total(1));
  const { mode } = await stat(directory);
  expect(mode & 0o077).toBe(0);
});

describe("forgetting", () => {
  test("forgetting removes totals that were not used for 30 days, including temporary files, and nothing else", async () => {
    const { totals, directory } = await openTotals();
    await totals.write("/home", "old", total(1));
    const [old = ""] = await readdir(directory);
    await writeFile(path.join(directory, "draft.json.1"), "{");
    await totals.write("/home", "recent", total(2));
    const now = Date.now();
    for (const name of [old, "draft.json.1"]) await utimes(path.join(directory, name), new Date(now - 31 * day), new Date(now - 31 * day));
    await removeOldTotals(directory, now);
    expect(await totals.read("/home", "old")).toBeNull();
    expect(await totals.read("/home", "recent")).toEqual(total(2));
    expect(await readdir(directory)).toHaveLength(1);
  });

  test("forgetting counts the days from the last task of a session", async () => {
    const { totals, directory } = await openTotals();
    await totals.write("/home", "s", total(1));
    await removeOldTotals(directory, Date.now() + 29 * day);
    expect(await totals.read("/home", "s")).toEqual(total(1));
    await removeOldTotals(directory, Date.now() + 31 * day);
    expect(await totals.read("/home", "s")).toBeNull();
  });

  test("forgetting does nothing without sessions", async () => {
    const { directory } = await openTotals();
    await removeOldTotals(directory);
    await mkdir(directory);
    await removeOldTotals(directory);
    expect(await readdir(directory)).toEqual([]);
  });
});
