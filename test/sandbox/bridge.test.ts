import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { startBridgeProgram, taskInState } from "../support/bridge-program.ts";
import { directoryOutsideTmp } from "./open-sandbox.ts";

test("kill -9 of Bridge ends its agents within a second, in any session", async () => {
  const { bridge, dataDir, start } = await openBench(`
    setsid sleep 4713001 &
    (setsid sh -c 'sleep 4713002 & sleep 4713003' &)
    trap '' TERM HUP
    sleep 4713004`);
  await start();
  const sleeping = () =>
    commandsOf(dataDir)
      .filter((command) => command.startsWith("sleep 471300"))
      .sort();
  await expect.poll(sleeping, { timeout: 10_000, interval: 20 }).toEqual([1, 2, 3, 4].map((number) => `sleep 471300${number}`));
  bridge.signal("SIGKILL");
  await bridge.exited;
  await expect.poll(() => commandsOf(dataDir)).toEqual([]);
});

test("a task sees neither Bridge's database and tokens nor files of other tasks", async () => {
  const { bridge, dataDir, root, start } = await openBench(`
    for file in "$1/token" "$1/bridge.db" "$1/bridge.db-wal" "$1/workspaces/beta/agent/note" "$1/homes/beta/agent/note" "$2/tokens.json" "$2/.env"; do
      if [ -s "$file" ]; then echo "sees $file"; fi
      if echo x 2>/dev/null >> "$file"; then echo "writes $file"; fi
    done
    grep -sl BRIDGE_TOKENS_FILE /proc/[0-9]*/environ
    echo mine > mine.txt && echo done`);
  const file = (name: string) => readFileSync(path.join(root, name), "utf8");
  const others = ["data/workspaces/beta/agent/note", "data/homes/beta/agent/note"];
  for (const name of others) {
    mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
    writeFileSync(path.join(root, name), "of beta\n");
  }
  const task = await taskInState(bridge, await start(), "completed");
  expect(task["result"]).toMatchObject({ output: "done\n" });
  expect([...others.map(file), file("conf/.env"), file("data/workspaces/default/agent/mine.txt")]).toEqual([
    "of beta\n",
    "of beta\n",
    "BRIDGE_LOG_LEVEL=info\n",
    "mine\n",
  ]);
  expect(file("conf/tokens.json")).toContain("sha256");
  expect(readdirSync(dataDir)).toContain("bridge.db-wal");
});

test("git computes the diff of a task in the sandbox, where it cannot read objects of another tenant", async () => {
  const { bridge, dataDir, start } = await openBench("echo new > new.txt");
  const create = (name: string): { git: (...args: string[]) => string; directory: string } => {
    const directory = path.join(dataDir, "workspaces", name);
    mkdirSync(directory, { recursive: true });
    writeFileSync(path.join(directory, "secret"), `of ${name}\n`);
    const git = (...args: string[]) =>
      execFileSync("git", ["-C", directory, "-c", "user.name=n", "-c", "user.email=e", ...args], { encoding: "utf8" });
    git("init", "-q");
    git("add", "-A");
    git("commit", "-qm", "first");
    git("repack", "-qad");
    return { git, directory };
  };
  const { git } = create("beta/agent");
  create("default/agent");
  const { directory: spying } = create("default/spy");
  const pack = path.join(spying, ".git/objects/pack");
  rmSync(pack, { recursive: true });
  symlinkSync(path.join(dataDir, "workspaces/beta/agent/.git/objects/pack"), pack);
  writeFileSync(path.join(spying, ".git/HEAD"), git("rev-parse", "HEAD"));
  const diffOf = async (agentId: string) => {
    const taskId = await start({ agentId });
    await taskInState(bridge, taskId, "completed");
    const response = await bridge.call("GET", `/api/v2/tasks/${taskId}/diff`);
    return [response.status, await response.json()];
  };
  expect(await diffOf("agent")).toEqual([200, expect.objectContaining({ truncated: null, diff: expect.stringContaining("+new\n") })]);
  // Without the sandbox, git reads the objects.
  expect(execFileSync("git", ["-C", spying, "show", "HEAD:secret"], { encoding: "utf8" })).toBe("of beta/agent\n");
  expect(await diffOf("spy")).toEqual([
    409,
    expect.objectContaining({
      detail: expect.stringContaining(".git/objects/pack in the work tree is neither a regular file nor a directory"),
    }),
  ]);
});

test("a running task does not see tokens, secrets and settings that the operator replaces", async () => {
  const { bridge, dataDir, root, start } = await openBench(`
    echo ready > ready; until test -e go; do sleep 0.02; done
    grep -rs -e sha256 -e whsec_ -e BRIDGE_LOG_LEVEL "$2"
    echo done`);
  const taskId = await start();
  const workspace = path.join(dataDir, "workspaces/default/agent");
  await expect.poll(() => existsSync(path.join(workspace, "ready")), { timeout: 10_000, interval: 20 }).toBe(true);
  for (const name of ["tokens.json", ".env", "callback-secret"]) {
    const file = path.join(root, "conf", name);
    writeFileSync(`${file}.new`, readFileSync(file));
    renameSync(`${file}.new`, file);
  }
  writeFileSync(path.join(workspace, "go"), "");
  expect((await taskInState(bridge, taskId, "completed"))["result"]).toMatchObject({ output: "done\n" });
});

test("a cancel lets the program clean up, and a timeout ends it", async () => {
  const { bridge, dataDir, start } = await openBench(`
    trap 'echo tidied > tidied.txt; exit 0' TERM
    echo ready
    sleep 4713005 & wait`);
  const taskId = await start();
  await expect.poll(() => commandsOf(dataDir), { timeout: 10_000, interval: 20 }).toContain("sleep 4713005");
  expect((await bridge.call("POST", `/api/v2/tasks/${taskId}/cancel`)).status).toBe(202);
  await taskInState(bridge, taskId, "cancelled");
  expect(readFileSync(path.join(dataDir, "workspaces/default/agent/tidied.txt"), "utf8")).toBe("tidied\n");
  expect(commandsOf(dataDir)).toEqual([]);
  const timedOut = await taskInState(bridge, await start({ timeoutSeconds: 1 }), "failed");
  expect(timedOut["result"]).toMatchObject({ errorCode: "timeout" });
  expect(commandsOf(dataDir)).toEqual([]);
});

test("the preflight reports the sandbox", async () => {
  const { bridge } = await openBench("true");
  const { data } = (await (await bridge.call("GET", "/api/v2/adapters")).json()) as { data: { health: { preflight: unknown[] } }[] };
  expect(data[0]?.health.preflight.at(-1)).toEqual({
    step: "sandbox",
    ok: true,
    detail: expect.stringMatching(/^bubblewrap \d+\.\d+.*: /),
  });
});

/** A Bridge that requires a sandbox and runs a shell script as its agent. `$1` is the data directory, `$2` the directory of its secrets. */
async function openBench(script: string) {
  const root = directoryOutsideTmp();
  const dataDir = path.join(root, "data");
  const conf = path.join(root, "conf");
  for (const directory of [dataDir, conf]) mkdirSync(directory);
  writeFileSync(path.join(conf, ".env"), "BRIDGE_LOG_LEVEL=info\n");
  writeFileSync(path.join(dataDir, "token"), "of an earlier start\n");
  // The token that the test uses.
  writeFileSync(path.join(conf, "token"), "token-of-the-test");
  writeFileSync(path.join(conf, "callback-secret"), `whsec_${Buffer.alloc(32, 7).toString("base64")}`);
  const sha256 = createHash("sha256").update("token-of-the-test").digest("hex");
  writeFileSync(
    path.join(conf, "tokens.json"),
    JSON.stringify([{ name: "test", tenant: "default", sha256, scopes: ["dispatch", "read"] }]),
  );
  const bridge = await startBridgeProgram(conf, {
    BRIDGE_DATA_DIR: dataDir,
    PATH: process.env["PATH"] ?? "",
    BRIDGE_SANDBOX: "required",
    BRIDGE_TOKENS_FILE: path.join(conf, "tokens.json"),
    BRIDGE_CALLBACK_SECRETS_FILE: path.join(conf, "callback-secret"),
    BRIDGE_COMMAND: JSON.stringify(["/bin/sh", "-c", script, "agent", dataDir, conf]),
  });
  await expect.poll(async () => (await bridge.call("GET", "/readyz")).status).toBe(200);
  const start = async (request: Record<string, unknown> = {}): Promise<string> => {
    const response = await bridge.call("POST", "/api/v2/dispatch", { agentId: "agent", message: "Do it.", timeoutSeconds: 60, ...request });
    const answer = await response.text();
    expect(answer).toContain('"taskId"');
    return (JSON.parse(answer) as { taskId: string }).taskId;
  };
  return { bridge, root, dataDir, start };
}

/** The command lines of all processes of the tasks of this Bridge. */
function commandsOf(dataDir: string): string[] {
  const read = (file: string): string => {
    try {
      return readFileSync(file, "utf8");
    } catch {
      // The process has ended in the meantime.
      return "";
    }
  };
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      const environment = read(`/proc/${pid}/environ`);
      return environment.includes("BRIDGE_TASK_ID=") && environment.includes(`${dataDir}/`);
    })
    .map((pid) => read(`/proc/${pid}/cmdline`).replaceAll("\0", " ").trim());
}
