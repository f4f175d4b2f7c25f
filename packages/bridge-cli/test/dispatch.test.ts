import { writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Bridge, startBridge } from "../../../test/support/start-bridge.ts";
import { temporaryDirectory } from "../../../test/support/temporary-directory.ts";
import { askUntil } from "../../../test/support/until.ts";
import { accessTo, type CliOptions, runCli, runCommand, runOnTerminal, startOnTerminal } from "./start-cli.ts";

let bridge: Bridge;
beforeAll(async () => {
  bridge = await startBridge();
});
afterAll(() => bridge.close());

const task = ["dispatch", "--provider", "memory", "--agent", "writer"];
const asking = [...task, "--approvals", "ask", "--profile", "modify"];
const run = (args: readonly string[], options: CliOptions = {}) =>
  (options.cwd === undefined ? runCommand : runCli)(args, { ...options, env: accessTo(bridge) });
const onTerminal = (args: readonly string[]) => startOnTerminal(args, { env: accessTo(bridge) });
const stored = async (taskId: string) => (await bridge.call("GET", `/api/v2/tasks/${taskId}`)).body;
const requestOf = async (taskId: string) => (await bridge.call("GET", `/api/v2/tasks/${taskId}/request`)).body.request;
const inState = (taskId: string, state: string) =>
  askUntil(
    () => bridge.call("GET", `/api/v2/tasks/${taskId}`),
    ({ body }) => body.state === state,
  );

describe("brg dispatch", () => {
  test("brg dispatch prints the output of the task to stdout, and how it ended to stderr", async () => {
    const { stdout, stderr } = await run([...task, "--id", "plain-1", "look"]);
    expect(stdout).toBe("One file.");
    expect(stderr).toMatch(/^plain-1 completed · \d+ ms · \$0\.25$/);
    expect(await run([...task, "--quiet", "Hello."])).toEqual({ exitCode: 0, stdout: "Hello.", stderr: "" });
  });

  test("brg dispatch sends the message from stdin and all options", async () => {
    const cwd = await temporaryDirectory();
    await writeFile(path.join(cwd, "notes.md"), "Notes.");
    await writeFile(path.join(cwd, "bytes"), Buffer.from([0xff, 0x00]));
    await writeFile(path.join(cwd, "schema.json"), '{"type":"object"}');
    const options = ["--model", "small", "--timeout", "30", "--label", "team=docs", "--label", "ticket=7", "--profile", "modify"];
    const files = ["--file", "notes.md", "--file", "data/raw=bytes", "--schema", "@schema.json"];
    await run([...task, "--id", "full-1", ...options, ...files, "--detach", "-"], { cwd, input: "From stdin." });
    expect(await requestOf("full-1")).toMatchObject({
      ...{ message: "From stdin.", model: "small", timeoutSeconds: 30, labels: { team: "docs", ticket: "7" }, profile: "modify" },
      outputStrategy: { type: "structured", schema: { type: "object" } },
    });
    expect(await run(["files", "full-1", "notes.md"])).toMatchObject({ exitCode: 0, stdout: "Notes." });
    expect((await run(["files", "full-1"])).stdout).toMatch(/^data\/raw\t2\t.*\nnotes\.md\t6\t/);
  });

  test.each<[string, string[]]>([
    ["a message from stdin", [...task, "-"]],
    ["a batch from stdin", [...task, "--from", "-"]],
    ["a batch file", [...task, "--from", "latin-1"]],
    ["a schema file", [...task, "--schema", "@latin-1", "Hello."]],
  ])("brg dispatch rejects %s that is not UTF-8, and dispatches nothing", async (_, args) => {
    const cwd = await temporaryDirectory();
    const input = Buffer.from('{"message":"Gr\xfc\xdfe","agentId":"a"}', "latin1");
    await writeFile(path.join(cwd, "latin-1"), input);
    const before = (await run(["tasks", "--json=taskId"])).stdout;
    const { exitCode, stderr } = await run(args, { cwd, input });
    expect([exitCode, stderr]).toEqual([
      2,
      expect.stringMatching(/(Standard input|latin-1) is not UTF-8 text\.[\s\S]*iconv -f ISO-8859-1/),
    ]);
    expect((await run(["tasks", "--json=taskId"])).stdout).toBe(before);
  });

  test("brg dispatch names fallbacks and retries, and brg task shows what was tried", async () => {
    const id = "tried-1";
    const { exitCode } = await run([
      ...task,
      "--id",
      id,
      "--fallback",
      "narrow=large:1=2",
      "--fallback",
      "absent",
      "--retry",
      "1",
      "limit",
    ]);
    expect(exitCode).not.toBe(0);
    expect(await requestOf(id)).toMatchObject({
      fallbacks: [{ provider: "narrow", model: "large:1=2" }, { provider: "absent" }],
      retry: { max: 1, on: ["rate_limited", "model_error"] },
    });
    expect((await run(["task", id])).stdout).toContain("memory (rate_limited), narrow (rate_limited), absent (skipped)");
    expect((await run(["tail", id, "--json"])).stdout).toContain('"type":"execution.attempt"');
  });

  test("brg dispatch prints only the id with --detach, and the stored task with --json", async () => {
    expect(await run([...task, "--id", "detached-1", "--detach", "Hello."])).toEqual({ exitCode: 0, stdout: "detached-1", stderr: "" });
    const { stdout } = await run([...task, "--id", "json-1", "--json=taskId,state,result.output", "Hello."]);
    expect(JSON.parse(stdout)).toEqual({ taskId: "json-1", state: "completed", "result.output": "Hello." });
  });

  test("brg dispatch does not run a repeated id again", async () => {
    await run([...task, "--id", "twice-1", "Hello."]);
    const { stdout, stderr } = await run([...task, "--id", "twice-1", "Hello."]);
    expect({ stdout, stderr }).toEqual({ stdout: "Hello.", stderr: expect.stringContaining("existed before; nothing was dispatched.") });
  });

  test("brg dispatch with --dry-run prints the resolved settings, or the error of the dispatch, and dispatches nothing", async () => {
    const { stdout } = await run([...task, "--id", "dry-1", "--dry-run", "Hello."]);
    expect(stdout).toContain("profile\tinspect\n");
    expect((await bridge.call("GET", "/api/v2/tasks/dry-1")).status).toBe(404);
    expect(await run(["dispatch", "--agent", "writer", "--provider", "absent-one", "--dry-run", "Hello."])).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("--provider"),
    });
  });

  test.each<[string, string[], string]>([
    ["no message", ["dispatch", "-a", "x"], "The message is missing."],
    ["no agent", ["dispatch", "Hello."], "--agent is missing."],
    ["a file that does not exist", [...task, "--file", "nowhere.md", "Hello."], "--file cannot be read: ENOENT"],
    ["a schema that is not JSON", [...task, "--schema", "{", "Hello."], "--schema is not valid JSON"],
    ["the name of a saved address as a profile", [...task, "--profile", "prod", "Hello."], "brg --profile prod dispatch"],
  ])("brg dispatch rejects %s", async (_, args, words) => {
    expect(await run(args)).toMatchObject({ exitCode: 2, stdout: "", stderr: expect.stringContaining(words) });
  });
});

describe("on a terminal, brg dispatch", () => {
  test("on a terminal, brg dispatch shows a status line, and makes control characters of the output visible", async () => {
    const { exitCode, shown } = await runOnTerminal([...task, "--id", "shown-1", "red\u001b[31m"], { env: accessTo(bridge) });
    expect(exitCode).toBe(0);
    expect(shown).toContain("\r\u001b[2Kshown-1  ");
    expect(shown).toContain("red␛[31m\r\n");
  });

  test("on a terminal, brg dispatch asks for a decision, and passes an approval", async () => {
    const cli = await onTerminal([...asking, "--id", "approved-1", "ask"]);
    await cli.waitFor(/delete \{"path":"a\.md"\}\r\nApprove it\?.*\r\n$/);
    cli.type("perhaps\n");
    await cli.waitFor(/Enter y to approve, or n and a reason to reject:/);
    cli.type("y\n");
    expect(await cli.exited).toBe(0);
    // The status line would overwrite what a person types.
    const [, question] = /Approve it\?(.*)Approved/s.exec(cli.shown()) ?? [];
    expect(question).toBe(" Enter y, or n and a reason:\r\nperhaps\r\nEnter y to approve, or n and a reason to reject:\r\ny\r\n");
    expect(cli.shown()).toContain("Approved.");
    expect((await stored("approved-1")).result.output).toBe("approve");
  });

  test("on a terminal, brg dispatch passes a rejection with its reason", async () => {
    const cli = await onTerminal([...asking, "--id", "rejected-1", "ask"]);
    await cli.waitFor(/Approve it\?/);
    cli.type("n It is still needed.\n");
    expect(await cli.exited).toBe(0);
    const { body } = await bridge.call("GET", "/api/v2/approvals?state=rejected");
    expect(body.data).toMatchObject([{ taskId: "rejected-1", reason: "It is still needed.", decidedBy: "alpha" }]);
  });

  test("on a terminal, brg dispatch withdraws the question if the approval is decided elsewhere", async () => {
    const cli = await onTerminal([...asking, "--id", "elsewhere-1", "ask"]);
    await cli.waitFor(/Approve it\?/);
    const { body } = await bridge.call("GET", "/api/v2/approvals?state=pending");
    const { approvalId } = body.data.find((one: { taskId: string }) => one.taskId === "elsewhere-1");
    expect(await run(["approve", approvalId, "--reason", "By another."])).toMatchObject({ exitCode: 0 });
    expect(await cli.exited).toBe(0);
    expect(cli.shown()).toContain(`Approval ${approvalId}: approve by alpha.`);
  });

  test("on a terminal, brg dispatch stops following after Ctrl-C, and the task continues", async () => {
    const cli = await onTerminal([...task, "--id", "left-1", "wait"]);
    await cli.waitFor(/running/);
    cli.type("\u0003");
    expect(await cli.exited).toBe(130);
    expect(cli.shown()).toContain("The task continues: brg wait left-1");
    expect((await stored("left-1")).state).toBe("running");
  });

  test("on a terminal, brg dispatch cancels the task after Ctrl-C twice", async () => {
    const cli = await onTerminal([...task, "--id", "stopped-1", "wait"]);
    await cli.waitFor(/running/);
    cli.type("\u0003");
    await cli.waitFor(/Press Ctrl-C again to cancel it\./);
    cli.type("\u0003");
    expect(await cli.exited).toBe(7);
    expect((await inState("stopped-1", "cancelled")).body.state).toBe("cancelled");
  });
});

test("a task that waits for a decision names the command that decides it, without a terminal", async () => {
  const running = run([...asking, "--id", "piped-1", "ask"]);
  const { body } = await askUntil(
    () => bridge.call("GET", "/api/v2/approvals?state=pending"),
    ({ body }) => body.data.some((one: { taskId: string }) => one.taskId === "piped-1"),
  );
  const { approvalId } = body.data.find((one: { taskId: string }) => one.taskId === "piped-1");
  expect(await run(["reject", approvalId])).toMatchObject({ exitCode: 0, stdout: expect.stringContaining("state\trejected") });
  expect(await running).toMatchObject({ exitCode: 0, stdout: "reject", stderr: expect.stringContaining(`brg approve ${approvalId}`) });
  expect(await run(["approve", approvalId])).toMatchObject({ exitCode: 6 });
});
