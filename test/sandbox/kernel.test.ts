import { chmodSync, existsSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { execa } from "execa";
import { describe, expect, test } from "vitest";
import { createSandbox } from "../../adapters/shared/process/sandbox.ts";
import { directoryOutsideTmp } from "./open-sandbox.ts";

const program = path.join(import.meta.dirname, "../fixtures/programs/run-in-sandbox.ts");
const isRoot = process.getuid?.() === 0;
/** The users that can run Bridge in this test: root can also switch to another user. */
const users = isRoot ? [0, 65534] : [process.getuid?.() ?? 0];
/** The number of the system call add_key. request_key and keyctl have the next two numbers. */
const addKey = { x64: 248, arm64: 217, riscv64: 217, loong64: 217, ppc64: 269 }[process.arch as string] ?? Number.NaN;
const strings = 'my ($type, $name, $value) = ("user", "note", "x");';

describe.each(users)("a task of a Bridge that runs as user %i", (uid) => {
  test("a sandboxed task cannot write to a file of the kernel", async () => {
    const find = `find /proc /proc/self/net/ /sys -path '/proc/[0-9]*' -prune -o -type f -print 2>/dev/null`;
    const lines = await runAs(uid, `${find} | while read -r file; do test -w "$file" && echo "$file"; done; echo done`);
    expect(lines.at(-1)).toBe("done");
    // Settings of the namespaces of the sandbox, and files that every user may write to.
    const own = /^\/proc\/sys\/(kernel\/(auto_msgmni|msg\w+|sem|shm\w+|ns_last_pid|pid_max)|fs\/mqueue\/\w+)$|^\/proc\/pressure\/\w+$/;
    expect(lines.slice(0, -1).filter((file) => uid === 0 || !own.test(file))).toEqual([]);
  });

  test("a sandboxed task writes to its own files in /proc", async () => {
    const script = "echo 500 > /proc/self/oom_score_adj && unshare --user --map-root-user cat /proc/self/oom_score_adj";
    expect(await runAs(uid, script)).toEqual(["500"]);
  });

  test("a sandboxed task cannot take control of the processes that end its sandbox", async () => {
    // A process that may open the memory of another process may trace it.
    const script = `for pid in 1 2 $$; do if (: < /proc/$pid/mem) 2>/dev/null; then echo "$pid"; fi; done; echo "own $$"`;
    const lines = await runAs(uid, script);
    const own = lines.at(-1)?.slice("own ".length);
    expect(lines.slice(0, -1)).toEqual([own]);
  });

  test("a sandboxed task can create a nested sandbox", async () => {
    // The kernel rejects a new /proc below mounts. Root needs a new one to replace the old one.
    const proc = uid === 0 ? "" : "--unshare-pid --proc /proc";
    expect(await runAs(uid, `bwrap --unshare-user --ro-bind / / ${proc} echo inner`)).toEqual(["inner"]);
  });

  test("a sandboxed task has no kernel keyring", async () => {
    const calls = [
      `syscall(${addKey}, $type, $name, $value, 1, -3)`,
      `syscall(${addKey + 1}, $type, $name, 0, -3)`,
      // Joins a new session keyring, and finds the number of the current one.
      `syscall(${addKey + 2}, 1, 0)`,
      `syscall(${addKey + 2}, 0, -3, 0)`,
    ];
    const script = calls.map((call) => `perl -e '${strings} $! = 0; ${call}; print $! + 0, "\\n"'`).join("; ");
    expect(await runAs(uid, script)).toEqual(calls.map(() => "38"));
  });
});

test("a task does not see the session keyring of the login that started Bridge", async () => {
  const login = `${strings} syscall(${addKey + 2}, 1, 0); syscall(${addKey}, $type, $name, $value, 1, -3); exec @ARGV`;
  const request = `perl -e '${strings} print syscall(${addKey + 1}, $type, $name, 0, 0), "\\n"'`;
  expect(await runAs(users[0] ?? 0, request, ["perl", "-e", login])).toEqual(["-1"]);
});

test("the sandbox is missing if a task of root could write to a kernel setting", async () => {
  const root = directoryOutsideTmp();
  const shim = `
    left=$#
    while [ $left -gt 0 ]; do
      if [ "$1 $2" = "--ro-bind-try /proc/sys" ]; then shift 3; left=$((left - 3)); else set -- "$@" "$1"; shift; left=$((left - 1)); fi
    done
    PATH=/usr/bin:/bin exec bwrap "$@"`;
  writeFileSync(path.join(root, "bwrap"), `#!/bin/sh\n${shim}\n`);
  chmodSync(path.join(root, "bwrap"), 0o755);
  const env = { PATH: `${root}:/usr/bin:/bin` };
  const made = await createSandbox({ env, hidden: [], secrets: [], programs: [], directory: path.join(root, "own") });
  const refusal = {
    missing: expect.stringMatching(/^a task in the sandbox could write to \/proc\/sys\/.* more: run Bridge as a user who cannot\.$/),
  };
  expect(made).toEqual(isRoot ? refusal : { detail: expect.stringMatching(/^bubblewrap/), wrap: expect.any(Function) });
});

test("the sandbox is missing if a task could take control of it", async () => {
  const root = directoryOutsideTmp();
  // All programs that the check needs, except unshare.
  for (const name of ["bwrap", "find"]) symlinkSync(`/usr/bin/${name}`, path.join(root, name));
  const made = await createSandbox({ env: { PATH: root }, hidden: [], secrets: [], programs: [], directory: path.join(root, "own") });
  const refusal = { missing: expect.stringMatching(/^a task could take control of the first process of its sandbox.*install unshare/) };
  const yama = "/proc/sys/kernel/yama/ptrace_scope";
  const isForbidden = existsSync(yama) && readFileSync(yama, "utf8").trim() !== "0";
  expect(made).toEqual(isForbidden ? { detail: expect.stringMatching(/^bubblewrap/), wrap: expect.any(Function) } : refusal);
});

async function runAs(uid: number, script: string, starter: readonly string[] = []): Promise<string[]> {
  const root = directoryOutsideTmp();
  chmodSync(root, 0o755);
  const [command = "", ...rest] = [...starter, process.execPath, program, String(uid), root, script];
  const { stdout } = await execa(command, rest);
  return stdout.split("\n");
}
