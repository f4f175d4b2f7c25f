import { closeSync, openSync, readdirSync, writeSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { openOutputFile } from "../../../../adapters/shared/process/output-file.ts";
import { temporaryDirectory } from "../../../support/temporary-directory.ts";

/** A file, and the chunks that are read from it. */
async function open() {
  const directory = await temporaryDirectory();
  const file = await openOutputFile(directory);
  const [program, other] = [openSync(file.path, "a"), openSync(file.path, "a")];
  onTestFinished(async () => {
    for (const descriptor of [program, other]) closeSync(descriptor);
    await file.close();
  });
  const ending = new AbortController();
  const chunks = file.readChunks(ending.signal);
  const next = async () => (await chunks.next()).value?.toString() ?? null;
  return { directory, file, program, other, next, end: () => ending.abort() };
}

test("output is read as it is written, and once", async () => {
  const { program, next } = await open();
  const first = next();
  writeSync(program, "one");
  expect(await first).toBe("one");
  const second = next();
  writeSync(program, "two");
  expect(await second).toBe("two");
});

test("output before the end is read, without waiting for a program that continues to write", async () => {
  const { program, next, end } = await open();
  writeSync(program, "x".repeat(100_000));
  end();
  expect(await next()).toHaveLength(64 * 1024);
  writeSync(program, "too late");
  expect(await next()).toHaveLength(100_000 - 64 * 1024);
  expect(await next()).toBeNull();
});

test("the end is noticed at once while nothing is written", async () => {
  const { next, end } = await open();
  const last = next();
  end();
  expect(await last).toBeNull();
});

test("an emptied file uses no disk space, and later output is read", async () => {
  const { file, program, next } = await open();
  writeSync(program, "before");
  expect(await next()).toBe("before");
  await file.empty();
  const after = next();
  writeSync(program, "then");
  expect(await after).toBe("then");
});

test("writers that opened the file separately do not overwrite each other", async () => {
  const { program, other, next } = await open();
  writeSync(program, "one ");
  writeSync(other, "two ");
  writeSync(program, "three");
  expect(await next()).toBe("one two three");
});

test("the file has no name in its directory", async () => {
  expect(readdirSync((await open()).directory)).toEqual([]);
});
