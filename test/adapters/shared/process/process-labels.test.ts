import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { familyOf, getProcessLabels, labelCommand, parseLabeledSpawnError } from "../../../../adapters/shared/process/process-labels.ts";
import { temporaryDirectory } from "../../../support/temporary-directory.ts";

const env = { PATH: "/usr/bin:/bin" };
const label = (argv: string[]) => labelCommand({ argv, cwd: "/", env, sandbox: null });

test("labels work on this host: prlimit is installed and the limit on file locks is not set", async () => {
  expect(await getProcessLabels()).not.toHaveProperty("missing");
});

test("a program starts with its own arguments, environment and process id under a label that no other has", async () => {
  const odd = { ...env, "A-B": "1", "C.D": "2", OPTIND: "x" };
  const [one, other] = await Promise.all(["a b", ""].map((name) => label(["cat", "/proc/self/stat", "/proc/self/environ", "--", name])));
  const [program = "", ...programArguments] = one?.argv ?? [];
  const { pid, stdout } = spawnSync(program, programArguments, { env: odd, encoding: "utf8" });
  expect(programArguments.slice(-5)).toEqual(["cat", "/proc/self/stat", "/proc/self/environ", "--", "a b"]);
  expect(stdout).toContain(`${pid} (cat)`);
  expect(stdout).toMatch(/\nPATH=\/usr\/bin:\/bin\0A-B=1\0C\.D=2\0OPTIND=x\0$/);
  expect(one?.label).not.toBe(other?.label);
  expect(familyOf(one?.label ?? 0n)).toBe(familyOf(other?.label ?? 1n));
});

test("a child process cannot remove its label", async () => {
  const script = `for one in unlimited 9223372036854775807; do ulimit -w $one || ulimit -x $one; done 2>/dev/null
exec env -i setsid --wait cat /proc/self/limits`;
  const labeled = await label(["sh", "-c", script]);
  // Root may raise limits, unless it has lost that capability.
  const asUser = process.getuid?.() === 0 ? ["setpriv", "--bounding-set=-sys_resource", "--inh-caps=-sys_resource"] : [];
  const [program = "", ...programArguments] = [...asUser, ...labeled.argv];
  const seen = execFileSync(program, programArguments, { env, encoding: "utf8" });
  expect(seen).toMatch(new RegExp(`^Max file locks +\\d+ +${labeled.label} `, "m"));
});

test.each([
  ["does not exist", { argv: ["no-such-program"] }],
  ["is in a sandbox", { argv: ["sh"], sandbox: {} }],
])("a program that %s gets no label", async (_name, command) => {
  const labeled = await labelCommand({ cwd: "/", env, sandbox: null, ...command });
  expect(labeled).toEqual({ argv: command.argv, label: null });
});

test("a relative program is looked up from its own working directory", async () => {
  const cwd = await temporaryDirectory();
  writeFileSync(path.join(cwd, "tool"), "#!/bin/sh\n");
  chmodSync(path.join(cwd, "tool"), 0o755);
  expect((await labelCommand({ argv: ["./tool"], cwd, env, sandbox: null })).label).not.toBeNull();
  expect((await labelCommand({ argv: ["./tool"], cwd: "/", env, sandbox: null })).label).toBeNull();
});

test.each([
  [127, "prlimit: failed to execute /x: No such file or directory\n", "spawn /x ENOENT"],
  [126, "prlimit: failed to execute /x: Text file busy\n", "spawn /x: Text file busy"],
  [1, "prlimit: something\n", null],
  [127, "sh: 1: x: not found\n", null],
  [null, "prlimit: ", null],
])("exit code %s with stderr %j means the start error %j", (exitCode, stderr, error) => {
  expect(parseLabeledSpawnError("/x", exitCode, stderr)).toBe(error);
});
