import { writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Bridge, startBridge } from "../../../test/support/start-bridge.ts";
import { temporaryDirectory } from "../../../test/support/temporary-directory.ts";
import { accessTo, type CliOptions, runCli, startCli } from "./start-cli.ts";

let bridge: Bridge;
beforeAll(async () => {
  bridge = await startBridge();
});
afterAll(() => bridge.close());

/** Writes a file with one task per line, and returns its path. */
async function writeBatch(name: string, lines: readonly (object | string)[]): Promise<string> {
  const file = path.join(await temporaryDirectory(), `${name}.jsonl`);
  await writeFile(file, lines.map((line) => (typeof line === "string" ? line : JSON.stringify(line))).join("\n"));
  return file;
}

const run = (file: string, args: readonly string[] = [], options: CliOptions = {}) =>
  runCli(["dispatch", "--from", file, "-p", "memory", "-a", "writer", ...args], { ...options, env: accessTo(bridge) });
const listed = async (prefix: string) =>
  (await bridge.call("GET", `/api/v2/tasks?idPrefix=${prefix}-`)).body.data as { taskId: string; state: string; title: string }[];

describe("brg dispatch --from", () => {
  test("brg dispatch --from runs every line, prints one line for each task, and runs nothing twice when it is repeated", async () => {
    const file = await writeBatch("twice", [
      { message: "One." },
      "",
      { message: "Two.", agentId: "other", labels: { team: "docs" } },
      { message: "One." },
    ]);
    const { exitCode, stdout, stderr } = await run(file, ["--jobs", "2"]);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "3 task(s), 3 completed." });
    const rows = stdout.split("\n").map((line) => line.split("\t"));
    expect(rows.map(([id, state]) => [id?.slice(0, 6), state])).toEqual(Array.from({ length: 3 }, () => ["twice-", "completed"]));
    expect((await listed("twice")).map(({ title }) => title).toSorted()).toEqual(["One.", "One.", "Two."]);

    const again = await run(file, ["--jobs", "2"]);
    expect(again).toMatchObject({
      exitCode: 0,
      stderr: "3 task(s), 3 completed. 3 of them existed before, and were not dispatched again.",
    });
    expect(again.stdout.split("\n").toSorted()).toEqual(stdout.split("\n").toSorted());
    expect(await listed("twice")).toHaveLength(3);

    // A new prefix is a new run.
    expect(await run(file, ["--id", "thrice"])).toMatchObject({ stderr: "3 task(s), 3 completed." });
  });

  test("brg dispatch --from keeps the ids of lines when other lines are added", async () => {
    const before = await writeBatch("kept", [{ message: "One." }, { message: "Two." }]);
    await run(before);
    const after = await writeBatch("kept", [{ message: "Zero." }, { message: "Two." }, { message: "One." }]);
    expect(await run(after)).toMatchObject({ stderr: expect.stringContaining("2 of them existed before") });
    expect(await listed("kept")).toHaveLength(3);
  });

  test("brg dispatch --from continues after it was killed, without running a task twice", async () => {
    const file = await writeBatch("killed", [{ message: "wait" }, { message: "One." }, { message: "Two." }]);
    const args = ["dispatch", "--from", file, "-p", "memory", "-a", "writer", "--jobs", "1"];
    const killed = await startCli(args, { env: accessTo(bridge) });
    await expect.poll(() => listed("killed")).toMatchObject([{ state: "running" }]);
    killed.signal("SIGKILL");
    await killed.exited;
    const [task] = await listed("killed");
    await bridge.call("POST", `/api/v2/tasks/${task?.taskId}/cancel`);
    expect(await run(file)).toMatchObject({
      exitCode: 7,
      stderr: "3 task(s), 2 completed. 1 of them existed before, and were not dispatched again.",
    });
    expect(await listed("killed")).toHaveLength(3);
  });

  test("brg dispatch --from runs at most as many tasks at the same time as --jobs allows", async () => {
    const file = await writeBatch(
      "few",
      Array.from({ length: 4 }, () => ({ message: "wait" })),
    );
    const cli = await startCli(["dispatch", "--from", file, "-p", "memory", "-a", "writer", "-j", "2"], { env: accessTo(bridge) });
    await expect.poll(() => listed("few")).toHaveLength(2);
    const [first] = await listed("few");
    await bridge.call("POST", `/api/v2/tasks/${first?.taskId}/cancel`);
    await expect.poll(() => listed("few")).toHaveLength(3);
    await expect.poll(cli.stdout).toContain("cancelled");
    cli.signal("SIGINT");
    expect(await cli.exited).toBe(130);
    expect(cli.stderr()).toContain("repeat the command: nothing runs twice");
    for (const { taskId } of await listed("few")) await bridge.call("POST", `/api/v2/tasks/${taskId}/cancel`);
  });

  test("brg dispatch --from exits with the code of the first task in the file that did not complete", async () => {
    const file = await writeBatch("failing", [{ message: "One." }, { message: "fail" }]);
    const { exitCode, stdout } = await run(file, ["--json=state,errorCode"]);
    expect(exitCode).toBe(1);
    const lines = stdout.split("\n").map((line) => JSON.parse(line) as object);
    expect(lines).toEqual(
      expect.arrayContaining([
        { state: "completed", errorCode: null },
        { state: "failed", errorCode: "model_error" },
      ]),
    );
  });

  test("brg dispatch --from accepts a byte order mark, and sends numbers as they were written, so that Bridge names one that would change", async () => {
    const file = await writeBatch("ids", ['\uFEFF{"message":"One.","metadata":{"order":653247040368672769}}']);
    const { exitCode, stderr } = await run(file);
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(/line 1, metadata\.order: is 653247040368672769, /);
  });

  test("brg dispatch --from dispatches nothing if a line is wrong, and names all wrong lines with field and fix", async () => {
    const file = await writeBatch("wrong", [
      ...[
        { message: "One." },
        "{",
        "[1]",
        { message: "Two.", timeoutSeconds: 0 },
        { messsage: "Three." },
        { message: "Four.", provider: "absent-one" },
      ],
    ]);
    const broken = await run(file);
    expect(broken).toMatchObject({
      exitCode: 2,
      stdout: "",
      stderr: expect.stringMatching(/line 2: is not valid JSON.*\n.*line 3: must be a JSON object/),
    });
    const faulty = await writeBatch("wrong", [
      { message: "One." },
      { message: "Two.", timeoutSeconds: 0 },
      { messsage: "Three." },
      { message: "Four.", provider: "absent-one" },
    ]);
    const { exitCode, stdout, stderr } = await run(faulty);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
    expect(stderr).toContain("so nothing was dispatched.");
    for (const words of [/line 2, timeoutSeconds: .*1/, /line 3, messsage: /, /line 4, provider: .*not a loaded adapter/])
      expect(stderr).toMatch(words);
    expect(await listed("wrong")).toEqual([]);
  });

  test("brg dispatch --from rejects an id that two lines have", async () => {
    const file = await writeBatch("same", [
      { taskId: "same-1", message: "One." },
      { taskId: "same-1", message: "Two." },
    ]);
    expect(await run(file)).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('line 2, taskId: is also the id of line 1; got "same-1"'),
    });
  });

  test("brg dispatch --from reads stdin, only dispatches with --detach, and only checks with --dry-run", async () => {
    const input = '{"message":"One."}\n{"message":"Two."}\n';
    expect(await run("-", ["--id", "piped", "--dry-run"], { input })).toEqual({
      exitCode: 0,
      stdout: "",
      stderr: "2 task(s) can be dispatched.",
    });
    expect(await listed("piped")).toEqual([]);
    const { stdout } = await run("-", ["--id", "piped", "--detach"], { input });
    expect(stdout.split("\n").toSorted()).toEqual((await listed("piped")).map(({ taskId }) => taskId).toSorted());
  });

  test.each<[string, string[], string]>([
    ["a message", ["Hello."], "With --from, the messages are in the file."],
    ["an empty file", [], "contains no task"],
  ])("brg dispatch --from rejects %s", async (_, args, words) => {
    expect(await run(await writeBatch("empty", [""]), args)).toMatchObject({ exitCode: 2, stderr: expect.stringContaining(words) });
  });
});
