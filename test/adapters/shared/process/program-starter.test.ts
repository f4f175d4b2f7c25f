import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { startProgram } from "../../../../adapters/shared/process/program-starter.ts";
import { isAlive } from "../../../support/is-alive.ts";
import { temporaryDirectory } from "../../../support/temporary-directory.ts";

let tmp: string;

beforeAll(() => {
  tmp = mkdtempSync(path.join(tmpdir(), "program-starter-"));
});
afterAll(() => rmSync(tmp, { recursive: true }));

const start = (...argv: string[]) => startProgram({ argv, cwd: "/", tmp, env: { PATH: "/usr/bin:/bin" }, outputFile: null });

/** Starts programs in another process. */
async function startOther(...command: string[]) {
  const program = path.join(import.meta.dirname, "../../../fixtures/programs/start-programs.ts");
  const [name = "", ...args] = [...command.slice(0, -1), process.execPath, program, command.at(-1) ?? "", await temporaryDirectory()];
  const child = spawn(name, args, { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  return { child, lines: createInterface(child.stdout) };
}

/** The process that starts the programs of this process. */
function findStarter(parent: number): number {
  const isStarter = (pid: string): boolean => {
    try {
      const isChild = readFileSync(`/proc/${pid}/stat`, "latin1").split(") ").at(-1)?.split(" ")[1] === String(parent);
      return isChild && readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("program-starter-process");
    } catch {
      return false;
    }
  };
  return Number(readdirSync("/proc").find((name) => /^\d+$/.test(name) && isStarter(name)));
}

test("programs are killed when the starter is killed, and a new starter starts the next program", async () => {
  const running = await start("sleep", "60");
  const starter = findStarter(process.pid);
  process.kill(starter, "SIGKILL");
  expect(await running.exited).toEqual([null, "SIGKILL"]);
  await expect.poll(() => isAlive(running.pid)).toBe(false);

  const next = await start("echo", "next");
  expect(Buffer.concat((await next.stdout?.toArray()) ?? []).toString()).toBe("next\n");
  expect(await next.exited).toEqual([0, null]);
  expect(findStarter(process.pid)).not.toBe(starter);
});

test("a start that the starter has not carried out is rejected when the starter is killed", async () => {
  const first = await start("true");
  await first.exited;
  process.kill(findStarter(process.pid), "SIGSTOP");
  const requested = start("true");
  process.kill(findStarter(process.pid), "SIGKILL");
  await expect(requested).rejects.toThrow("The process that starts programs has failed (SIGKILL). Dispatch the task again.");
});

test("the starter and its programs end when Bridge is killed", async () => {
  const { child, lines } = await startOther("linger");
  const [line] = (await once(lines, "line")) as [string];
  const pid = Number(/^ready (\d+)$/.exec(line)?.[1]);
  const starter = findStarter(child.pid as number);
  expect([pid, starter].map(isAlive)).toEqual([true, true]);
  child.kill("SIGKILL");
  await expect.poll(() => [pid, starter].map(isAlive)).toEqual([false, false]);
});

test.each([
  ["at its first program", "without-descriptors-first", []],
  ["later", "without-descriptors", ["before"]],
])("a start fails with an error when Bridge has no file descriptors left %s, and later starts succeed", async (_when, mode, before) => {
  const { lines } = await startOther("prlimit", "--nofile=64", "--", mode);
  const printed: string[] = [];
  for await (const line of lines) printed.push(line);
  expect(printed).toEqual([...before, expect.stringMatching(/EMFILE|limit of open files/), "after"]);
});

test("many starts in one turn of the event loop succeed", async () => {
  const started = await Promise.all(Array.from({ length: 200 }, () => start("true")));
  expect(await Promise.all(started.map((program) => program.exited))).toEqual(Array(200).fill([0, null]));
});

test("a process that waits for a program learns that the starter was killed, even if it waits for nothing else", async () => {
  const { child, lines } = await startOther("linger");
  await once(lines, "line");
  process.kill(findStarter(child.pid as number), "SIGKILL");
  expect(await once(child, "exit")).toEqual([0, null]);
});
