import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { type ProcessOptions, runProcess } from "../../adapters/shared/process/run-process.ts";
import { processesOf } from "../conformance/adapter-bench.ts";
import { directoryOutsideTmp, openSandbox } from "./open-sandbox.ts";

const program = path.join(import.meta.dirname, "../fixtures/programs/misbehaving.js");

describe("a program in a sandbox", () => {
  test("a program in a sandbox reads its input and writes its output as it does outside", async () => {
    const { run } = await openBench();
    const input = `für dich\n${"x".repeat(1_000_000)}`;
    const { end, text } = await run("echo-input", { input });
    expect(text).toBe(input);
    expect(end).toMatchObject({ exitCode: 0, exitSignal: null, spawnError: null, limit: null, aborted: false, orphansLeft: 0 });
    expect((await run("exit-with", { argument: "7" })).end).toMatchObject({ exitCode: 7, exitSignal: null, stderr: "the reason\n" });
    expect((await run("exit-after-long-line", { stdout: "file" })).lines.map((line) => line.length)).toEqual([
      expect.any(Number),
      4_000_000,
      4,
    ]);
  });

  test("a program in a sandbox is stopped at the limits of its output", async () => {
    const { run } = await openBench();
    const flood = await run("flood-stdout", { limits: { stdoutBytes: 1_000_000 } });
    expect(flood.end).toMatchObject({ limit: "stdoutBytes", exitSignal: "SIGTERM" });
    expect(flood.text).toHaveLength(1_000_000);
    expect((await run("long-line")).end.limit).toBe("lineBytes");
  });

  test("a program in a sandbox receives only its environment, and none of Bridge's file descriptors", async () => {
    const { run, directories } = await openBench();
    const { lines, end } = await run("environment", { env: { PATH: "/usr/bin:/bin" } });
    const [environment = "[]", files = "[]", cwd] = lines;
    const { workspace, home, tmp } = directories;
    expect(JSON.parse(environment).sort()).toEqual(
      ["BRIDGE_TASK_ID=environment", `HOME=${home}`, "PATH=/usr/bin:/bin", `PWD=${workspace}`, `TMPDIR=${tmp}`].sort(),
    );
    expect(JSON.parse(files).filter((file: string) => file.startsWith("/") && !/^\/(dev\/null|proc\/)/.test(file))).toEqual([]);
    expect(cwd).toBe(workspace);
    expect(end.exitCode).toBe(0);
  });

  test("a program in a sandbox passes its environment only to itself, not to the programs that create the sandbox", async () => {
    const { run, root } = await openBench();
    const outside = path.join(root, "loaded");
    // With these variables, the loader of every process writes to such a file if it is allowed to.
    const env = { PATH: process.env["PATH"] ?? "", LD_DEBUG: "files", LD_DEBUG_OUTPUT: outside, QUOTED: `"a" 'b' $HOME\n\\ `, EMPTY: "" };
    const script = 'printf "%s" "$LD_DEBUG,$LD_DEBUG_OUTPUT,$QUOTED,$EMPTY,$BRIDGE_VARIABLE_0"';
    const { text } = await run("environment", { argv: ["/bin/sh", "-c", script], env });
    expect(text.slice(text.lastIndexOf("files,"))).toBe(`files,${outside},${env.QUOTED},,`);
    expect(readdirSync(root).filter((name) => name.startsWith("loaded"))).toEqual([]);
  });

  test.each([
    ["does not exist", { argv: ["/no/such/program"] }, /ENOENT/],
    ["is not on the PATH", { argv: ["no-such-program"] }, /ENOENT/],
    ["cannot be executed", { argv: [program] }, /ENOENT/],
    ["has a missing working directory", { cwd: "/no/such/directory" }, /cwd|ENOENT/],
    ["has an argument that is too long", { argv: [process.execPath, "x".repeat(200_000)] }, /E2BIG/],
  ] as [string, Partial<ProcessOptions>, RegExp][])("a program in a sandbox that %s does not start", async (_what, options, reason) => {
    const { run } = await openBench();
    const { end } = await run("linger", options);
    expect(end).toMatchObject({ exitCode: null, exitSignal: null, spawnError: expect.stringMatching(reason) });
  });

  test("a program in a sandbox whose interpreter is missing does not start", async () => {
    const { run, directories } = await openBench();
    const script = path.join(directories.workspace, "script");
    writeFileSync(script, "#!/no/such/interpreter\n", { mode: 0o755 });
    expect((await run("linger", { argv: [script] })).end.spawnError).toMatch(/^bridge-sandbox: .*not found/);
  });
});

describe("the stop of a program in a sandbox", () => {
  test("the stop of a program in a sandbox sends SIGTERM first, so that the program can clean up", async () => {
    const { runAndAbort } = await openBench();
    const { end, text } = await runAndAbort("tidy-up-at-sigterm");
    expect(end).toMatchObject({ aborted: true, exitCode: 0, exitSignal: null });
    expect(text).toContain("tidied up\n");
    expect((await runAndAbort("linger")).end).toMatchObject({ aborted: true, exitCode: null, exitSignal: "SIGTERM", stderr: "" });
  });

  test("the stop of a program in a sandbox kills a program that ignores SIGTERM, and all of its descendants", async () => {
    const { runAndAbort } = await openBench();
    const { end, text } = await runAndAbort("ignore-sigterm", { limits: { killAfterMs: 2_000 } });
    expect(end).toMatchObject({ aborted: true, exitSignal: "SIGKILL" });
    expect(text).toContain("SIGTERM ignored\n");
    expect((await runAndAbort("fork", { limits: { killAfterMs: 200 } }, 2)).end).toMatchObject({ aborted: true, orphansLeft: 0 });
    expect(processesOf("fork")).toEqual([]);
  });

  test("the stop of a program in a sandbox lets descendants clean up after the program for a limited time", async () => {
    const { run, directories } = await openBench();
    const child = "setsid sh -c \"trap 'sleep 0.2; echo tidied > tidied.txt; exit' TERM; echo x > ready; sleep 4713011 & wait\" &";
    const script = `${child}\n(trap '' TERM; exec setsid sleep 4713010) &\nuntil test -s ready; do sleep 0.01; done; exit 3`;
    const { end } = await run("tidy", { argv: ["/bin/sh", "-c", script], env: { PATH: process.env["PATH"] ?? "" } });
    expect(end).toMatchObject({ exitCode: 3, exitSignal: null, orphansLeft: 0 });
    expect(readFileSync(path.join(directories.workspace, "tidied.txt"), "utf8")).toBe("tidied\n");
    expect(processesOf("tidy")).toEqual([]);
  });

  test.each([0, 2, 5, 10, 20, 40])("the stop of a program in a sandbox works %i ms after its start", async (afterMs) => {
    const { run } = await openBench();
    const controller = new AbortController();
    const running = run("linger", { signal: controller.signal });
    setTimeout(() => controller.abort(), afterMs);
    expect((await running).end).toMatchObject({ aborted: true, exitCode: null, exitSignal: expect.stringMatching(/^SIG(TERM|KILL)$/) });
    expect(processesOf("linger")).toEqual([]);
  });

  test.each(["escape", "escape-stubbornly"])(
    "the stop of a program in a sandbox kills descendants that moved to another session: %s",
    async (mode) => {
      const { run } = await openBench();
      const { end } = await run(mode);
      expect(end).toMatchObject({ exitCode: 0, aborted: false, orphansKilled: 0, orphansLeft: 0 });
      expect(processesOf(mode)).toEqual([]);
    },
  );
});

test("the end of a sandbox reads no environment of a process, which could block on its memory lock", async () => {
  const { run, directories } = await openBench();
  const { home, tmp } = directories;
  // A search of environments would find this process, because it has the marker of the task.
  const env = { PATH: process.env["PATH"] ?? "", BRIDGE_TASK_ID: "shell", HOME: home, TMPDIR: tmp };
  const marked = spawn("sleep", ["60"], { env, stdio: "ignore" });
  onTestFinished(() => void marked.kill("SIGKILL"));
  const { end } = await run("shell", { argv: ["/bin/sh", "-c", "setsid sleep 60 & exit 0"], env: { PATH: env.PATH } });
  expect(end).toMatchObject({ exitCode: 0, orphansKilled: 0, orphansLeft: 0 });
  expect(marked.exitCode ?? marked.signalCode).toBeNull();
});

describe("a program's access in a sandbox", () => {
  const shell = (script: string): Partial<ProcessOptions> => ({
    argv: ["/bin/sh", "-c", script],
    env: { PATH: process.env["PATH"] ?? "" },
  });

  test("a program's access in a sandbox includes writes to its workspace, home and TMPDIR, also as /tmp, and to no other directory", async () => {
    const { run, directories, root } = await openBench();
    const { workspace, home, tmp } = directories;
    const outside = [
      path.join(root, "bridge/new"),
      path.join(import.meta.dirname, "new"),
      "/etc/new",
      "/usr/new",
      "/var/tmp/new",
      "/proc/sys/new",
    ];
    const attempts = [`${workspace}/a`, `${home}/b`, `${tmp}/c`, "/tmp/d", ...outside].map(
      (file) => `echo x > ${file} && echo wrote ${file}`,
    );
    const { lines } = await run("shell", shell(`${attempts.join("\n")}\ntrue`));
    expect(lines).toEqual([`wrote ${workspace}/a`, `wrote ${home}/b`, `wrote ${tmp}/c`, "wrote /tmp/d"]);
    expect([existsSync("/tmp/d"), ...outside.map((file) => existsSync(file))]).not.toContain(true);
    expect(readdirSync(workspace)).toEqual(["a"]);
    expect(readdirSync(home)).toEqual(["b"]);
    expect(readdirSync(tmp)).toEqual(expect.arrayContaining(["c", "d"]));
  });

  test("a program's access in a sandbox excludes changes, deletions and mounts outside its directories", async () => {
    const { run, root } = await openBench();
    const file = path.join(root, "bridge/token");
    const mine = path.join(import.meta.dirname, "open-sandbox.ts");
    const before = readFileSync(mine, "utf8");
    const { lines } = await run(
      "shell",
      shell(`
        rm -f ${mine} && echo removed
        chmod 777 ${mine} && echo opened
        echo x >> ${mine} && echo changed
        mount -o remount,bind,rw / && echo remounted
        umount ${root}/bridge && echo uncovered
        unshare --user --map-root-user --mount sh -c 'umount ${root}/bridge || mount -o remount,bind,rw /' && echo escaped
        cat ${file} && echo read
        true`),
    );
    expect(lines).toEqual([]);
    expect(readFileSync(mine, "utf8")).toBe(before);
  });

  test("a program's access in a sandbox excludes other directories of Bridge and processes outside the sandbox", async () => {
    const { run, directories, root } = await openBench();
    const { lines } = await run(
      "shell",
      shell(`
        cat ${root}/bridge/token ${root}/elsewhere/tokens.json
        ls ${root}/bridge/workspaces/default ${root}/bridge/homes
        ls -d /proc/[0-9]* | wc -l
        kill -0 ${process.pid} && echo reached`),
    );
    expect(lines.join()).not.toMatch(/secret|other|reached/);
    expect(lines.slice(0, -1).filter((line) => line !== "" && !line.includes(root))).toEqual(["agent", "agent"]);
    // The init process of the sandbox, the waiting shell, the shell of the script, ls and wc.
    expect(Number(lines.at(-1))).toBeLessThanOrEqual(5);
    expect(directories.workspace.startsWith(root)).toBe(true);
  });

  test("a program's access in a sandbox includes a workspace that is a link to a directory outside Bridge's directories", async () => {
    const { run, root } = await openBench();
    const project = path.join(root, "project");
    mkdirSync(project);
    const workspace = path.join(root, "bridge/workspaces/default/linked");
    symlinkSync(project, workspace);
    const { end } = await run("shell", {
      ...shell(`echo x > made && test -s ${workspace}/made && test -s ${project}/made`),
      workspace,
      cwd: workspace,
    });
    expect(end).toMatchObject({ exitCode: 0, stderr: "" });
    expect(readdirSync(project)).toEqual(["made"]);
  });

  test("a program's access in a sandbox includes no capability, but a nested sandbox", async () => {
    const { run } = await openBench();
    const { lines, end } = await run("shell", shell("grep CapEff /proc/self/status; bwrap --unshare-user --ro-bind / / echo inner"));
    expect(lines).toEqual([expect.stringMatching(/^CapEff:\s+0+$/), "inner"]);
    expect(end.exitCode).toBe(0);
  });
});

/** The directories of a Bridge with secrets, and a sandbox that hides them. */
async function openBench() {
  const root = directoryOutsideTmp();
  const at = (name: string) => path.join(root, name);
  const directories = { workspace: at("bridge/workspaces/default/agent"), home: at("bridge/homes/agent"), tmp: at("bridge/tmp/task") };
  for (const directory of [...Object.values(directories), at("bridge/workspaces/default/other"), at("elsewhere")])
    mkdirSync(directory, { recursive: true });
  for (const file of ["bridge/token", "bridge/workspaces/default/other/note", "elsewhere/tokens.json"]) writeFileSync(at(file), "secret\n");
  const sandbox = await openSandbox({
    hidden: [at("bridge"), at("bridge/workspaces"), at("not-there")],
    secrets: [at("elsewhere/tokens.json"), at("not-there-either")],
  });

  async function run(mode: string, { argument, ...options }: Partial<ProcessOptions> & { argument?: string } = {}) {
    const lines: string[] = [];
    let text = "";
    const end = await runProcess({
      argv: [process.execPath, program, mode, ...(argument === undefined ? [] : [argument])],
      cwd: directories.workspace,
      env: {},
      taskId: mode,
      ...directories,
      sandbox,
      input: "",
      signal: new AbortController().signal,
      ...options,
      onLine: (line, ended) => {
        lines.push(line);
        text += line + (ended ? "\n" : "");
        options.onLine?.(line, ended);
      },
    });
    return { end, lines, text };
  }

  /** Aborts as soon as `readyCount` processes have reported that they are ready. */
  function runAndAbort(mode: string, options: Partial<ProcessOptions> = {}, readyCount = 1) {
    const controller = new AbortController();
    let ready = 0;
    const onLine = (line: string): void => {
      if (line.startsWith("ready ") && ++ready === readyCount) controller.abort();
    };
    return run(mode, { ...options, signal: controller.signal, onLine });
  }

  return { root, directories, run, runAndAbort };
}
