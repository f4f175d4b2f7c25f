import { writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parseExactJson } from "../../../src/contract/index.ts";
import { createInMemoryAdapter } from "../../../test/adapters/in-memory-adapter.ts";
import { type Bridge, startBridge } from "../../../test/support/start-bridge.ts";
import { temporaryDirectory } from "../../../test/support/temporary-directory.ts";
import { accessTo, runCommand } from "./start-cli.ts";

/** A double holds the first number, and JavaScript would write 12345678901234567000 instead of the second one. */
const [kept, long] = ["12345678901234567000", "12345678901234567890"];

let bridge: Bridge;
beforeAll(async () => {
  const adapter = createInMemoryAdapter({
    provider: "exact",
    async run(_request, emit) {
      const value = parseExactJson(`{"id":${long}}`) as Record<string, unknown>;
      emit("tool.invoked", { toolCallId: "call-1", toolName: "find", input: value });
      emit("tool.completed", { toolCallId: "call-1", toolName: "find", output: value, isError: false });
      return { output: "Found.", outputs: value };
    },
  });
  bridge = await startBridge({}, { adapters: [{ provider: "exact", adapter }] });
});
afterAll(() => bridge.close());

const run = (...args: string[]) => runCommand(args, { env: accessTo(bridge) });

async function writeBatch(line: string): Promise<string> {
  const file = path.join(await temporaryDirectory(), "batch.jsonl");
  await writeFile(file, line);
  return file;
}

test("outputs, metadata and tool calls with integers of 20 digits are printed as they are", async () => {
  const dispatched = await run("dispatch", "-p", "exact", "-a", "finder", "--id", "exact-1", "--json=result.outputs", "Find it.");
  expect(dispatched).toMatchObject({ exitCode: 0, stdout: expect.stringContaining(`"id": ${long}\n`) });
  expect((await run("task", "exact-1", "--json")).stdout).toContain(`"id": ${long}\n`);
  expect((await run("task", "exact-1", "--json=result.outputs.id")).stdout).toContain(`"result.outputs.id": ${long}\n`);
  const events = (await run("tail", "exact-1")).stdout.split("\n").filter((line) => line.includes(`{"id":${long}}`));
  expect(events).toHaveLength(3);

  const line = `{"taskId":"exact-2","provider":"exact","agentId":"finder","message":"Find it.","metadata":{"order":${kept}}}`;
  const batch = await run("dispatch", "--from", await writeBatch(line), "--json");
  expect(batch).toMatchObject({ exitCode: 0, stdout: expect.stringContaining(`"order":${kept}`) });
  expect(batch.stdout).toContain(`"outputs":{"id":${long}}`);
});

test.each([long, "12345678901234567.0", "12345678901234567e0"])(
  "a batch with %s is sent as it is, so that Bridge rejects it",
  async (number) => {
    const line = `{"provider":"exact","agentId":"finder","message":"Find it.","metadata":{"order":${number}}}`;
    const { exitCode, stderr } = await run("dispatch", "--from", await writeBatch(line));
    expect(exitCode).not.toBe(0);
    expect(stderr).toContain("metadata.order");
    expect(stderr).toContain(number);
  },
);
