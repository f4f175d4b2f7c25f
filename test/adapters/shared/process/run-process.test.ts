import { readdirSync, readlinkSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Writable } from "node:stream";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { type ProcessOptions, runProcess } from "../../../../adapters/shared/process/run-process.ts";
import { processesOf } from "../../../conformance/adapter-bench.ts";
import { isAlive } from "../../../support/is-alive.ts";

const program = path.join(import.meta.dirname, "../../../fixtures/programs/misbehaving.js");
let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), "run-process-"));
});
afterAll(() => rm(directory, { recursive: true }));

describe("output", () => {
  test("output is complete, whether or not the program reads its input", async () => {
    const input = `für dich\n${"x".repeat(300_000)}`;
    const { end, text } = await run("echo-input", { input });
    expect(text).toBe(input);
    expect(end).toMatchObject({ exitCode: 0, exitSignal: null, spawnError: null, limit: null, aborted: false });
  });

  test("a program may end without reading its input", async () => {
    const { end } = await run("exit-without-reading", { input: "x".repeat(5_000_000) });
    expect(end).toMatchObject({ exitCode: 0, spawnError: null });
  });

  test("output keeps characters whole across chunks, and replaces invalid bytes", async () => {
    expect((await run("split-multibyte")).text).toBe("für 10 €, 👩‍🚀\n");
    expect((await run("invalid-utf8")).text).toBe("a\ufffdb\ufffd\n\ufffd\n");
  });

  test("output counts a last line without a newline", async () => {
    expect((await run("no-newline")).lines).toEqual([
      ["first", true],
      ["last", false],
    ]);
  });

  test("output may be closed early: the exit is still reported", async () => {
    const { end, text } = await run("close-stdout");
    expect(text).toBe("before\n");
    expect(end).toMatchObject({ exitCode: 3, stderr: "still here\n" });
  });

  test("output is read in turns of the event loop, a chunk at a time", async () => {
    let turn = 0;
    let isOver = false;
    const linesPerTurn: number[] = [];
    const countTurns = (): void => {
      turn += 1;
      if (!isOver) setImmediate(countTurns);
    };
    countTurns();
    const { end } = await run("flood", {
      argv: ["/bin/sh", "-c", "yes x | head -c 4194304 > $TMPDIR/lines; cat $TMPDIR/lines; rm $TMPDIR/lines"],
      onLine() {
        linesPerTurn[turn] = (linesPerTurn[turn] ?? 0) + 1;
        // Meanwhile the program fills the pipe again.
        if ((linesPerTurn[turn] ?? 0) % 30_000 === 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
      },
    });
    isOver = true;
    const lines = linesPerTurn.filter((count) => count !== undefined);
    expect(end).toMatchObject({ exitCode: 0, limit: null });
    expect(lines.reduce((sum, count) => sum + count, 0)).toBe(2_097_152);
    // Two chunks of 64 KiB hold as many: a second one may be read before the pause takes effect.
    expect(Math.max(...lines)).toBeLessThan(100_000);
  });

  test("output keeps the end of stderr", async () => {
    const { end } = await run("flood-stderr");
    expect(end.exitCode).toBe(1);
    expect(end.stderr).toHaveLength(64 * 1024);
    expect(end.stderr.endsWith("2999\n")).toBe(true);
  });

  test("an error of the listener stops the program and is thrown", async () => {
    const failing = run("linger", {
      onLine: () => {
        throw new Error("a bug");
      },
    });
    await expect(failing).rejects.toThrow("a bug");
  });
});

describe("a function that writes to stdin", () => {
  test("a function that writes to stdin keeps stdin open until it closes it", async () => {
    const { promise: conversation, resolve: begin } = Promise.withResolvers<Writable>();
    const answers: string[] = [];
    const { end } = await run("echo-input", {
      input(stdin) {
        begin(stdin);
        stdin.write("first\n");
      },
      onLine: async (line) => {
        answers.push(line);
        const stdin = await conversation;
        if (line === "first") stdin.write("für dich\n");
        else stdin.end();
      },
    });
    expect(answers).toEqual(["first", "für dich"]);
    expect(end).toMatchObject({ exitCode: 0, aborted: false });
  });

  test("a function that writes to stdin may write to a program that does not read, until the program exits", async () => {
    const { end } = await run("exit-without-reading", { input: (stdin) => void stdin.write("x".repeat(5_000_000)) });
    expect(end).toMatchObject({ exitCode: 0, spawnError: null });
  });

  test("a function that writes to stdin ends with the program when the task is stopped", async () => {
    const { end } = await runAndAbort("linger", { input: (stdin) => void stdin.write("more to come") });
    expect(end).toMatchObject({ aborted: true, exitSignal: "SIGTERM" });
  });

  test("an error of the function stops the program and is thrown", async () => {
    const failing = run("linger", {
      taskId: "failing-holder",
      input() {
        throw new Error("a bug");
      },
    });
    await expect(failing).rejects.toThrow("a bug");
    expect(processesOf("failing-holder")).toEqual([]);
  });
});

describe("limits", () => {
  test("limits stop a program that floods stdout", async () => {
    const { end, text } = await run("flood-stdout", { limits: { stdoutBytes: 1_000_000 } });
    expect(end).toMatchObject({ limit: "stdoutBytes", exitSignal: "SIGTERM" });
    expect(text).toHaveLength(1_000_000);
  });

  test("limits stop a program that writes a line of 30 MB", async () => {
    const { end, text } = await run("long-line");
    expect(end.limit).toBe("lineBytes");
    expect(text).toBe("");
  });
});

describe("start", () => {
  test.each([
    ["a program that does not exist", { argv: ["/no/such/program"] }, /ENOENT/],
    ["a bare name that is not on the PATH", { argv: ["no-such-program"] }, /ENOENT/],
    ["a file that is not executable", { argv: [program] }, /EACCES/],
    ["a directory that does not exist", { cwd: "/no/such/directory" }, /cwd|ENOENT/],
    ["an argument that is too long", { argv: [process.execPath, "x".repeat(200_000)] }, /E2BIG/],
    ["an argument with a NUL", { argv: [process.execPath, "a\0b"] }, /null bytes/],
  ] as [string, Partial<ProcessOptions>, RegExp][])("start reports %s", async (_name, options, reason) => {
    const { end } = await run("linger", options);
    expect(end).toMatchObject({ exitCode: null, exitSignal: null });
    expect(end.spawnError).toMatch(reason);
  });

  test("start reports a program whose interpreter does not exist", async () => {
    const script = path.join(directory, "no-interpreter");
    await writeFile(script, "#!/no/such/interpreter\n", { mode: 0o755 });
    const { end } = await run("linger", { argv: [script] });
    expect(end.spawnError).toBe(`spawn ${script} ENOENT`);
  });

  test("start gives the program the trace context of its task, and no TRACESTATE of another one", async () => {
    const env = { PATH: "/usr/bin:/bin", TRACEPARENT: "of another task", TRACESTATE: "other=1" };
    const variablesOf = async (trace: { traceparent?: string; tracestate?: string }) => {
      const [environment] = (await run("environment", { env, trace })).lines.map(([line]) => line);
      return (JSON.parse(environment ?? "") as string[]).filter((variable) => variable.startsWith("TRACE")).sort();
    };
    expect(await variablesOf({ traceparent: "own" })).toEqual(["TRACEPARENT=own"]);
    expect(await variablesOf({ traceparent: "own", tracestate: "a=1" })).toEqual(["TRACEPARENT=own", "TRACESTATE=a=1"]);
    expect(await variablesOf({})).toEqual(["TRACEPARENT=of another task", "TRACESTATE=other=1"]);
  });

  test("start gives the program only its environment, and none of Bridge's file descriptors", async () => {
    vi.stubEnv("BRIDGE_SECRET_OF_THE_TEST", "leaked");
    const { lines } = await run("environment", { env: { PATH: "/usr/bin:/bin", HOME: "/overridden" }, taskId: "tenant/environment" });
    const [environment, files, cwd] = lines.map(([line]) => line);
    expect(JSON.parse(environment ?? "").sort()).toEqual(
      [`BRIDGE_TASK_ID=tenant/environment`, `HOME=${directory}/home`, "PATH=/usr/bin:/bin", `TMPDIR=${directory}/tmp`].sort(),
    );
    const pipesAndKernel = /^(socket:|pipe:|anon_inode:|\/dev\/null|\/proc\/)/;
    expect(JSON.parse(files ?? "").filter((file: string) => !pipesAndKernel.test(file))).toEqual([]);
    expect(cwd).toBe(directory);
  });

  test("start does not happen if the signal is already aborted", async () => {
    const { end } = await run("linger", { signal: AbortSignal.abort() });
    expect(end).toMatchObject({ aborted: true, exitCode: null, exitSignal: null, spawnError: null });
  });

  test("start that is aborted while it is running is stopped", async () => {
    const controller = new AbortController();
    const running = run("linger", { signal: controller.signal });
    controller.abort();
    expect((await running).end).toMatchObject({ aborted: true, exitSignal: "SIGTERM" });
  });
});

describe("stop", () => {
  test("a stop sends SIGTERM first, so that the program can clean up", async () => {
    const { end, text } = await runAndAbort("tidy-up-at-sigterm");
    expect(end).toMatchObject({ aborted: true, exitCode: 0, exitSignal: null });
    expect(text).toContain("tidied up\n");
  });

  test("a stop kills a program that ignores SIGTERM", async () => {
    const { end, text } = await runAndAbort("ignore-sigterm", { limits: { killAfterMs: 2_000 } });
    expect(end).toMatchObject({ aborted: true, exitSignal: "SIGKILL" });
    expect(text).toContain("SIGTERM ignored\n");
  });

  test("a stop kills the whole group, including a child that ignores SIGTERM", async () => {
    const { end, pids } = await runAndAbort("fork", { limits: { killAfterMs: 2_000 } }, 2);
    expect(end).toMatchObject({ aborted: true, exitSignal: "SIGTERM", orphansKilled: 1, orphansLeft: 0 });
    expect(pids.filter(isAlive)).toEqual([]);
  });

  test("a stop keeps an incomplete last line", async () => {
    expect((await runAndAbort("partial-json")).lines.at(-1)).toEqual(['{"type":"result","outp', false]);
  });
});

describe("descendants that move to another session", () => {
  test("descendants that move to another session do not delay the end, and are killed", async () => {
    const { end, pids } = await run("escape");
    expect(end).toMatchObject({ exitCode: 0, aborted: false, orphansKilled: 2, orphansLeft: 0 });
    expect(pids).toHaveLength(1);
    expect(pids.filter(isAlive)).toEqual([]);
  });

  test("descendants that move to another session are killed if they ignore SIGTERM", async () => {
    const { end, pids } = await run("escape-stubbornly");
    expect(end).toMatchObject({ exitCode: 0, orphansKilled: 1, orphansLeft: 0 });
    expect(pids.filter(isAlive)).toEqual([]);
  });
});

describe("a program of Bridge itself", () => {
  test("a program of Bridge itself that is stopped leaves no descendant", async () => {
    const argv = ["/bin/sh", "-c", "setsid sleep 60 & echo ready $!; echo ready $$; wait"];
    const { end, pids } = await runAndAbort("stopped", { isBridgeProgram: true, argv }, 2);
    expect(end).toMatchObject({ aborted: true, exitSignal: "SIGTERM", orphansLeft: 0 });
    expect(pids.filter(isAlive)).toEqual([]);
  });
});

describe("stdout in a file", () => {
  afterEach(() => {
    expect(readdirSync(`${directory}/tmp`)).toEqual([]);
    const held = readdirSync("/proc/self/fd").map((fd) => linkOf(`/proc/self/fd/${fd}`));
    expect(held.filter((file) => file.startsWith(directory))).toEqual([]);
  });

  test("stdout in a file loses no output of a program that exits at once, even with a slow reader", async () => {
    const { end, lines } = await run("exit-after-long-line", {
      stdout: "file",
      onLine: (line) => {
        // Long enough for the program to exit before its output is read.
        if (line.startsWith("ready ")) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500);
      },
    });
    expect(end).toMatchObject({ exitCode: 0, limit: null, aborted: false });
    expect(lines.map(([line]) => line.length)).toEqual([expect.any(Number), 4_000_000, 4]);
  });

  test("stdout in a file is read while the program runs, up to the last output of a stopped program", async () => {
    const tidy = await runAndAbort("tidy-up-at-sigterm", { stdout: "file" });
    expect(tidy.end).toMatchObject({ aborted: true, exitCode: 0 });
    expect(tidy.text).toContain("tidied up\n");
    expect((await runAndAbort("partial-json", { stdout: "file" })).lines.at(-1)).toEqual(['{"type":"result","outp', false]);
  });

  test("stdout in a file contains the output of child processes", async () => {
    const { end, pids } = await runAndAbort("fork", { stdout: "file", limits: { killAfterMs: 2_000 } }, 2);
    expect(end).toMatchObject({ aborted: true, exitSignal: "SIGTERM", orphansKilled: 1, orphansLeft: 0 });
    expect(pids.filter(isAlive)).toEqual([]);
  });

  test("stdout in a file is within the limits of a pipe", async () => {
    const flood = await run("flood-stdout", { stdout: "file", limits: { stdoutBytes: 1_000_000 } });
    expect(flood.end).toMatchObject({ limit: "stdoutBytes", exitSignal: "SIGTERM" });
    expect(flood.text).toHaveLength(1_000_000);
    const { end, text } = await run("long-line", { stdout: "file" });
    expect([end.limit, text]).toEqual(["lineBytes", ""]);
  });

  test("stdout in a file does not fill the disk when the program continues after the limit", async () => {
    const { end } = await run("flood-until-emptied", { stdout: "file", limits: { stdoutBytes: 1_000_000 } });
    expect(end).toMatchObject({ limit: "stdoutBytes", exitCode: 7 });
  });

  test.each([
    ["escape", 2],
    ["escape-stubbornly", 1],
  ])("stdout in a file may be held open by descendants that outlive the program: %s", async (mode, orphansKilled) => {
    const { end, pids } = await run(mode, { stdout: "file" });
    expect(end).toMatchObject({ exitCode: 0, orphansKilled, orphansLeft: 0 });
    expect(pids).toHaveLength(1);
    expect(pids.filter(isAlive)).toEqual([]);
  });

  test("an error of the listener stops the program and is thrown", async () => {
    const onLine = () => {
      throw new Error("a bug");
    };
    await expect(run("linger", { stdout: "file", onLine })).rejects.toThrow("a bug");
  });

  test("stdout in a file reports the start error of a program that does not exist", async () => {
    expect((await run("linger", { stdout: "file", argv: ["/no/such/program"] })).end.spawnError).toMatch(/ENOENT/);
  });
});

async function run(mode: string, options: Partial<ProcessOptions> = {}) {
  const lines: [line: string, ended: boolean][] = [];
  const end = await runProcess({
    argv: [process.execPath, program, mode],
    cwd: directory,
    env: {},
    taskId: mode,
    tmp: `${directory}/tmp`,
    home: `${directory}/home`,
    workspace: directory,
    sandbox: null,
    input: "",
    signal: new AbortController().signal,
    ...options,
    onLine: (line, ended) => {
      lines.push([line, ended]);
      options.onLine?.(line, ended);
    },
  });
  const text = lines.map(([line, ended]) => line + (ended ? "\n" : "")).join("");
  const pids = [...text.matchAll(/^ready (\d+)$/gm)].map(([, pid]) => Number(pid));
  return { end, lines, text, pids };
}

/** Aborts as soon as this many processes have reported that they are ready. */
function runAndAbort(mode: string, options: Partial<ProcessOptions> = {}, readyCount = 1) {
  const controller = new AbortController();
  let ready = 0;
  return run(mode, {
    ...options,
    signal: controller.signal,
    onLine: (line) => {
      if (line.startsWith("ready ") && ++ready === readyCount) controller.abort();
    },
  });
}

function linkOf(file: string): string {
  try {
    return readlinkSync(file);
  } catch {
    return ""; // the descriptor that listed the directory
  }
}
