import { mkdir } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import type { AdapterEvent } from "#contract";
import type { ConnectionResult } from "../../../../adapters/shared/agent-program/agent-program.ts";
import { createProgramEnvironment } from "../../../../adapters/shared/agent-program/program-environment.ts";
import { type ProgramCall, runProgram, type Step } from "../../../../adapters/shared/agent-program/run-program.ts";
import { createSessionTotals } from "../../../../adapters/shared/agent-program/session-totals.ts";
import { createTaskTimeline } from "../../../../adapters/shared/agent-program/task-timeline.ts";
import { MAX_EVENT_DATA_BYTES } from "../../../../src/events/encode-event-data.ts";
import { createExecutionRequest } from "../../../conformance/execution-request.ts";
import { temporaryDirectory } from "../../../support/temporary-directory.ts";
import { programContext } from "./scripted-program.ts";

/** The programs of these tests print steps as JSON lines. */
const steps = (...lines: (Step | string)[]): string =>
  `cat <<'END'\n${lines.map((line) => (typeof line === "string" ? line : JSON.stringify(line))).join("\n")}\nEND\n`;
const ok: Step = { kind: "ended", outcome: { status: "ok" } };

interface Outcome {
  ending: ConnectionResult;
  events: AdapterEvent[];
  answer: string;
  orphansKilled: number;
  debugged: object[];
}

/** Runs a shell script as the program of one task. */
async function run(script: string, changes: Partial<ProgramCall> & { cancelAt?: (event: AdapterEvent) => boolean } = {}): Promise<Outcome> {
  const root = await temporaryDirectory();
  const request = createExecutionRequest(root);
  await mkdir(request.directories.home);
  const controller = new AbortController();
  const events: AdapterEvent[] = [];
  const debugged: object[] = [];
  let orphansKilled = 0;
  const emit = (event: AdapterEvent): void => {
    events.push(event);
    if (changes.cancelAt?.(event)) controller.abort();
  };
  const timeline = createTaskTimeline("t", emit, { streaming: true });
  const context = programContext(root, { onOrphansKilled: (count) => (orphansKilled += count) });
  context.logger.debug = (fields) => void debugged.push(fields);
  const ending = await runProgram(
    { request, context, timeline, signal: controller.signal, totals: createSessionTotals(root) },
    {
      argv: ["/bin/sh", "-c", script],
      env: createProgramEnvironment(context, []),
      input: "",
      read: (line) => [line as unknown as Step],
      ...changes,
    },
  );
  timeline.close();
  return { ending, events, answer: timeline.answer, orphansKilled, debugged };
}

test("runProgram records the steps of a program and returns its outcome", async () => {
  const { ending, events, answer } = await run(
    steps(
      { kind: "facts", facts: { model: "m-1", resumeToken: "s1" } },
      { kind: "text", text: "Let me see." },
      { kind: "tool.invoked", toolCallId: "1", toolName: "read", input: { path: "a" } },
      { kind: "progress", data: { retry: 1 } },
      { kind: "tool.completed", toolCallId: "1", output: "text", isError: false },
      { kind: "text", text: "It says " },
      { kind: "text", text: "text." },
      { kind: "facts", facts: { model: "m-2", usage: { inputTokens: 5, outputTokens: 2 } } },
      ok,
    ),
  );
  expect(ending).toEqual({ status: "ok", model: "m-2", resumeToken: "s1", usage: { inputTokens: 5, outputTokens: 2 } });
  expect(events.map(({ type }) => type)).toEqual([
    "assistant.text",
    "tool.invoked",
    "execution.progress",
    "tool.completed",
    "assistant.text",
    "assistant.text",
  ]);
  expect(answer).toBe("It says text.");
});

test("the program reads its input, and nothing of Bridge's environment", async () => {
  const { debugged } = await run("cat; env", { input: "für dich\n" });
  const lines = debugged.map((fields) => (fields as { line: string }).line);
  expect(lines[0]).toBe("für dich");
  const inherited = lines.slice(1).map((line) => line.split("=")[0]);
  expect(inherited.filter((name) => !["PWD", "SHLVL", "_", "OLDPWD"].includes(name ?? "")).sort()).toEqual(
    ["BRIDGE_TASK_ID", "HOME", "LANG", "PATH", "TMPDIR"].sort(),
  );
});

test("the reported outcome decides, not the exit code", async () => {
  expect((await run(`${steps(ok)} exit 7`)).ending).toEqual({ status: "ok" });
  const failed: Step = { kind: "ended", outcome: { status: "error", errorCode: "rate_limited", error: "Later." } };
  expect((await run(`${steps(failed, ok)} exit 0`)).ending).toEqual({ status: "error", errorCode: "rate_limited", error: "Later." });
});

test("exit code 0 without a reported outcome is a failure", async () => {
  expect((await run(steps({ kind: "text", text: "half" }))).ending).toMatchObject({
    status: "error",
    errorCode: "runtime_crashed",
    error: "The program sh exited with code 0.",
  });
});

test("a crash keeps the reported facts, ends the open tool call, and reports stderr", async () => {
  const { ending, events } = await run(
    `${steps(
      { kind: "facts", facts: { resumeToken: "s1" } },
      { kind: "tool.invoked", toolCallId: "1", toolName: "shell", input: {} },
    )} echo "out of memory" >&2; kill -9 $$`,
  );
  expect(ending).toEqual({
    status: "error",
    errorCode: "runtime_crashed",
    error: "The program sh was killed by SIGKILL. out of memory",
    resumeToken: "s1",
  });
  expect(events.at(-1)).toMatchObject({ type: "tool.completed", data: { toolCallId: "1", isError: true } });
});

test("an exit that the adapter cannot explain is a crash", async () => {
  const explainExit: ProgramCall["explainExit"] = ({ exitCode }) =>
    exitCode === 41 ? { status: "error", errorCode: "authentication_required", error: "Set a key." } : null;
  expect((await run("exit 41", { explainExit })).ending).toMatchObject({ errorCode: "authentication_required" });
  expect((await run("exit 42", { explainExit })).ending).toMatchObject({ errorCode: "runtime_crashed" });
});

test("lines that are not JSON objects are skipped and logged at debug level", async () => {
  const { ending, answer, debugged } = await run(
    steps("Warning: something", "", '{"kind":"text"', '["text"]', "null", { kind: "text", text: "Done." }, ok, "{}}"),
  );
  expect(ending.status).toBe("ok");
  expect(answer).toBe("Done.");
  expect(debugged).toHaveLength(6);
});

test("lines are read whole and in order, however they are split into chunks", async () => {
  const half = `{"kind":"text","text":"gr`;
  const { answer } = await run(`printf '%s' '${half}'; sleep 0.05; printf '%s\\n%s' 'ün"}' '${JSON.stringify(ok)}'`);
  expect(answer).toBe("grün");
});

test("a program that hangs after reporting its outcome is stopped, and the outcome stays", async () => {
  // The child moves to another session before the program reports its outcome, because Bridge can stop the program at any time after that.
  const child = `setsid sh -c 'echo > "$HOME/moved"; exec sleep 3600' & until [ -e "$HOME/moved" ]; do sleep 0.01; done`;
  const { ending, orphansKilled } = await run(`${child}\n${steps(ok)} exec sleep 3600`, { exitAfterEndMs: 50 });
  expect(ending).toEqual({ status: "ok" });
  expect(orphansKilled).toBe(1);
});

test("a canceled task ends as cancelled, even if the program reports an outcome later", async () => {
  const script = `trap '${steps(ok).replaceAll("'", "'\\''")}exit 0' TERM; ${steps({ kind: "text", text: "begun" })} while :; do sleep 0.02; done`;
  const { ending, answer } = await run(script, { cancelAt: ({ type }) => type === "assistant.text" });
  expect(ending).toEqual({ status: "error", errorCode: "cancelled", error: "The task was canceled." });
  expect(answer).toBe("begun");
});

test("an adapter's explanation of an exit does not replace the outcome of a canceled task", async () => {
  const { ending } = await run(`${steps({ kind: "text", text: "begun" })} exec sleep 60`, {
    cancelAt: () => true,
    explainExit: () => ({ status: "ok" }),
  });
  expect(ending).toMatchObject({ status: "error", errorCode: "cancelled" });
});

test.each([
  ["does not exist", { argv: ["/no/such/program"] }, "spawn_failed"],
  ["writes a line without end", { argv: ["/bin/sh", "-c", "head -c 9000000 /dev/zero | tr '\\0' x"] }, "output_limit"],
])("a program that %s has its own failure", async (_name, changes, errorCode) => {
  expect((await run("", changes)).ending).toMatchObject({ status: "error", errorCode, error: expect.stringMatching(/./) });
});

test("an error of the reader stops the program and is rethrown", async () => {
  const read = (): Step[] => {
    throw new Error("a bug");
  };
  await expect(run(`${steps(ok)} exec sleep 60`, { read })).rejects.toThrow("a bug");
});

describe("a line of more than 8 MiB", () => {
  const longText = "head -c 9000000 /dev/zero | tr '\\0' x";
  const line = (start: string, end: string): string => `printf '%s' '${start}'; ${longText}; printf '%s\n' '${end}'\n`;

  test("a line of more than 8 MiB that reports a tool call is cut, and the task goes on", async () => {
    const script = [
      steps({ kind: "tool.invoked", toolCallId: "1", toolName: "shell", input: { command: "seq 1300000" } }),
      line('{"kind":"tool.completed","toolCallId":"1","isError":false,"output":"', '"}'),
      steps({ kind: "text", text: "It ran." }, ok),
    ].join("");
    const { ending, events, answer } = await run(script);
    expect([ending, answer]).toEqual([{ status: "ok" }, "It ran."]);
    const completed = events.filter(({ type }) => type === "tool.completed");
    expect(completed).toMatchObject([
      { data: { toolCallId: "1", isError: false, output: expect.stringMatching(/^x+ … \[cut by Bridge/) } },
    ]);
    // Above the limit of an event, so that the event is marked as truncated.
    expect(JSON.stringify(completed).length).toBeGreaterThan(MAX_EVENT_DATA_BYTES);
  });

  test.each([
    ["an answer", line('{"kind":"text","text":"', '"}')],
    ["a result", line('{"kind":"facts","facts":{"output":"', '"}}')],
    ["nothing that is known", line('{"kind":"', '"}')],
    ["no JSON", line("", "")],
  ])("a line of more than 8 MiB that reports %s fails the task", async (_, script) => {
    const { ending, answer } = await run(`${script}${steps(ok)}`, {
      read: (object) => (String(object["kind"]).length > 20 ? [] : [object as unknown as Step]),
    });
    expect(ending).toMatchObject({ status: "error", errorCode: "output_limit" });
    expect(answer).toBe("");
  });
});
