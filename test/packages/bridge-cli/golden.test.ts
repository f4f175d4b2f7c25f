import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Bridge, startBridge } from "../../support/start-bridge.ts";
import { startReceiver } from "../../support/start-receiver.ts";
import { askUntil } from "../../support/until.ts";
import { accessTo, runCli, runOnTerminal } from "./start-cli.ts";

const batchFile = path.join(import.meta.dirname, "golden/batch.jsonl");

/** What each command prints on a terminal and in a pipe, recorded in `golden/`. */
const commands: Readonly<Record<string, readonly string[]>> = {
  dispatch: ["dispatch", "-p", "memory", "-a", "writer", "--id", "look-1", "look"],
  "dispatch-failed": ["dispatch", "-p", "memory", "-a", "writer", "--id", "fail-1", "fail"],
  "dispatch-dry-run": ["dispatch", "-p", "memory", "-a", "writer", "--dry-run", "Hello."],
  "dispatch-from": ["dispatch", "-p", "memory", "-a", "batch", "--from", batchFile, "--jobs", "1"],
  "dispatch-from-wrong": ["dispatch", "-p", "memory", "--from", batchFile],
  tasks: ["tasks", "--agent", "writer", "--before", "2126-01-01"],
  "tasks-json": ["tasks", "--id-prefix", "look", "--json=taskId,state,usage.inputTokens"],
  task: ["task", "look-1"],
  "task-watch": ["task", "look-1", "--watch"],
  tail: ["tail", "look-1"],
  "tail-types": ["tail", "look-1", "--types", "tool.invoked,execution.completed"],
  wait: ["wait", "look-1", "fail-1"],
  cancel: ["cancel", "look-1"],
  approvals: ["approvals"],
  approve: ["approve", "no-such-approval"],
  callbacks: ["callbacks", "--state", "dead"],
  "callbacks-attempts": ["callbacks", "dead-1"],
  redeliver: ["redeliver", "--dead", "--origin", "http://127.0.0.1:1"],
  listen: ["listen"],
  files: ["files", "dead-1"],
  diff: ["diff", "look-1"],
  apply: ["apply", "look-1"],
  adapters: ["adapters"],
  "adapters-check": ["adapters", "memory", "--check"],
  doctor: ["doctor"],
  "doctor-callback": ["doctor", "--provider", "memory", "--callback", "http://10.0.0.1/results"],
  usage: ["usage", "--by", "model"],
  ui: ["ui"],
  "profile-list": ["profile", "list"],
  version: ["version"],
};

let bridge: Bridge;
let receiver: Awaited<ReturnType<typeof startReceiver>>;
beforeAll(async () => {
  receiver = await startReceiver((response) => {
    response.statusCode = 500;
    response.end("It is closed.");
  });
  bridge = await startBridge();
  const ended = (taskId: string) =>
    askUntil(
      () => bridge.call("GET", `/api/v2/tasks/${taskId}`),
      ({ body }) => body.state === "completed" || body.state === "failed",
    );
  for (const [taskId, message] of Object.entries({ "look-1": "look", "fail-1": "fail" })) {
    await bridge.dispatch({ taskId, message });
    await ended(taskId);
  }
  const callbackUrl = `${receiver.origin}/results`;
  await bridge.dispatch({ taskId: "dead-1", agentId: "caller", callbackUrl, files: [{ path: "notes.md", content: "Notes." }] });
  await askUntil(
    () => bridge.call("GET", "/api/v2/callbacks?state=dead"),
    ({ body }) => body.data.length === 1,
  );
  const home = await mkdtemp(path.join(tmpdir(), "bridge-test-"));
  await runCli(commands["dispatch-from"] ?? [], { cwd: home, env: accessTo(bridge) });
  await rm(home, { recursive: true });
  await bridge.dispatch({ taskId: "ask-1", agentId: "cleaner", message: "ask", approvals: "ask", profile: "modify" });
  await askUntil(
    () => bridge.call("GET", "/api/v2/approvals?state=pending"),
    ({ body }) => body.data.length === 1,
  );
});
afterAll(async () => {
  await bridge.close();
  await receiver.close();
});

/** Replaces what differs between runs. Columns are as wide as their values, so their width is replaced too. */
function mask(text: string): string {
  return omitScreen(text)
    .replaceAll("\r\n", "\n")
    .split("\n")
    .map((line) => line.split(CLEAR_LINE).at(-1))
    .join("\n")
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "<time>")
    .replaceAll(/^\d\d:\d\d:\d\d/gm, "<clock>")
    .replaceAll(/\b(now|\d+ (s|min) ago)\b/g, "<age>")
    .replaceAll(/\bin \d+ (s|min)\b/g, "<soon>")
    .replaceAll(/\b[\d.]+ (ms|s)\b/g, "<duration>")
    .replaceAll(/"durationMs":[\d.]+/g, '"durationMs":<ms>')
    .replaceAll(/"id":"\w+-\d+"/g, '"id":"<event>"')
    .replaceAll(/apr_[\w-]+/g, "<approval>")
    .replaceAll(/\/\S*\/(bridge-test-\w+)/g, "<directory>")
    .replaceAll(`${import.meta.dirname}/`, "")
    .replaceAll(/\bNode \d+\.\d+\.\d+/g, "Node <version>")
    .replaceAll(/\b(batch-)[0-9a-f]{16}/g, "$1<hash>")
    .replaceAll(/lnk_[\w-]+/g, "<ticket>")
    .replaceAll(/127\.0\.0\.1:\d{4,}/g, "<address>")
    .replaceAll(/\b0\.1\.0\b/g, "<version>")
    .replaceAll(/ {2,}/g, "  ")
    .trimEnd();
}
const CLEAR_LINE = "\r\u001b[2K";

/** Removes what the second buffer of the terminal shows. */
function omitScreen(text: string): string {
  const start = text.indexOf("\u001b[?1049h");
  return start < 0 ? text : `${text.slice(0, start)}<screen>\n${text.slice(text.lastIndexOf(CLOSE_SCREEN) + CLOSE_SCREEN.length)}`;
}
const CLOSE_SCREEN = "\u001b[?1049l";

/** The numbers of milliseconds in lines of tab-separated values: of tasks, of one task, of an attempt, and of sums. */
const maskDurations = (text: string): string =>
  text
    .replaceAll(/^((?:[^\t\n]*\t){4}<time>\t)\d+\t/gm, "$1<ms>\t")
    .replaceAll(/^took\t\d+$/gm, "took\t<ms>")
    .replaceAll(/^(\d+\t<time>\t500\t)\d+\t/gm, "$1<ms>\t")
    .replaceAll(/^([^\t\n]+(?:\t\d+){4}\t)\d+\t/gm, "$1<ms>\t");

test.each(Object.entries(commands))("%s prints what is recorded", async (name, args) => {
  const env = { ...accessTo(bridge), NO_COLOR: "1" };
  const [terminal, pipe] = await Promise.all([runOnTerminal(args, { env }), runCli(args, { env })]);
  expect(pipe.exitCode).toBe(terminal.exitCode);
  const recording = [
    `$ bridge ${args.join(" ").replaceAll(`${import.meta.dirname}/`, "")}`,
    `exit code ${pipe.exitCode}`,
    "--- terminal",
    mask(terminal.shown),
    "--- stdout of a pipe",
    maskDurations(mask(pipe.stdout)),
    "--- stderr of a pipe",
    mask(pipe.stderr),
  ];
  await expect(`${recording.join("\n")}\n`).toMatchFileSnapshot(path.join(import.meta.dirname, "golden", `${name}.txt`));
});

test("a terminal gets colors, unless NO_COLOR or --no-color is set, and a pipe gets none", async () => {
  const env = accessTo(bridge);
  const shown = async (...args: string[]) => (await runOnTerminal(["task", "fail-1", ...args], { env })).shown;
  expect(await shown()).toContain("\u001b[2mid");
  expect(await shown("--no-color")).not.toContain("\u001b");
  expect((await runOnTerminal(["task", "fail-1"], { env: { ...env, NO_COLOR: "1" } })).shown).not.toContain("\u001b");
  expect((await runCli(["tasks"], { env })).stdout).not.toContain("\u001b");
});

test("--json with a field that does not exist lists the fields", async () => {
  expect(await runCli(["tasks", "--json=id"], { env: accessTo(bridge) })).toMatchObject({
    exitCode: 2,
    stderr: expect.stringMatching(/there is no field .*id.*taskId, parentTaskId/),
  });
});
