import { existsSync, readdirSync, readFileSync } from "node:fs";
import { mkdir, readFile, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import SqliteDatabase from "better-sqlite3";
import { pino } from "pino";
import { describe, expect, onTestFinished, test } from "vitest";
import { catalog } from "../../adapters/index.ts";
import { createApp } from "../../src/app/create-app.ts";
import { loadConfig } from "../../src/app/load-config.ts";
import { migrate } from "../../src/store/engines/sqlite/migrate.ts";
import { shellCommand, startBridgeProgram } from "../support/bridge-program.ts";
import { isAlive } from "../support/is-alive.ts";
import { startTcpServer } from "../support/start-receiver.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

describe("the start", () => {
  test("the start prints the address first, and the generated token once", async () => {
    const dataDir = await temporaryDirectory();
    const first = await startBridgeProgram(dataDir, { BRIDGE_TYPO: "1" });
    expect(first.log[0]).toMatchObject({ address: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/) });
    const token = (await readFile(path.join(dataDir, "token"), "utf8")).trim();
    expect((await stat(path.join(dataDir, "token"))).mode & 0o777).toBe(0o600);
    await expect.poll(() => first.stderr()).toContain(token);
    await expect.poll(() => JSON.stringify(first.log)).toContain("BRIDGE_TYPO");
    expect(JSON.stringify(first.log)).not.toContain(token);
    expect((await first.call("GET", "/api/v2/tasks")).status).toBe(200);
    first.signal("SIGTERM");
    expect(await first.exited).toBe(0);

    const second = await startBridgeProgram(dataDir);
    expect((await second.call("GET", "/api/v2/tasks")).status).toBe(200);
    expect(second.stderr()).toBe("");
  });

  test("requests wait until the tasks of the last run are recovered", async () => {
    const { config } = loadConfig({
      BRIDGE_DATA_DIR: await temporaryDirectory(),
      BRIDGE_PORT: "0",
      BRIDGE_GATEWAY_TOKEN_HASH: "0".repeat(64),
    });
    const app = await createApp(config, pino({ level: "silent" }), { adapters: [] });
    let isAnswered = false;
    const answer = app.server.inject("/healthz").finally(() => {
      isAnswered = true;
    });
    for (let turn = 0; turn < 50; turn += 1) await new Promise(setImmediate);
    expect(isAnswered).toBe(false);
    await app.start();
    expect((await answer).statusCode).toBe(200);
    await app.close();
  });

  test("the start enables the compile cache next to the code before it loads the code", async () => {
    const bridge = await startBridgeProgram(await temporaryDirectory(), { NODE_COMPILE_CACHE: "", NODE_DEBUG_NATIVE: "COMPILE_CACHE" });
    const repository = path.resolve(import.meta.dirname, "../..");
    expect(bridge.stderr()).toContain(` -> ${repository}/node_modules/.cache/node-compile-cache/`);
    expect(bridge.stderr()).toContain(`retrieving transpile cache for StrippedTypeScript file://${repository}/src/main.ts`);
  });

  test("the start reports all configuration errors together, without secrets", async () => {
    const dataDir = await temporaryDirectory();
    const start = startBridgeProgram(dataDir, {
      BRIDGE_PORT: "http",
      BRIDGE_CALLBACK_SECRETS: "whsec_c2hvcnQ=",
      BRIDGE_COMMAND: "node agent.js",
      GATEWAY_PROVIDER: "a",
      BRIDGE_ADAPTERS: "b",
    });
    const words = await start.then(
      () => "it started",
      (error: Error) => error.message,
    );
    for (const name of ["exit 1", "BRIDGE_PORT", "BRIDGE_CALLBACK_SECRETS", "BRIDGE_COMMAND", "GATEWAY_PROVIDER"])
      expect(words).toContain(name);
    expect(words).not.toContain("c2hvcnQ");
    expect(words).not.toContain("    at ");
  });

  test("the start fails without a token on a public host, and for a second process on the same data", async () => {
    await expect(startBridgeProgram(await temporaryDirectory(), { BRIDGE_HOST: "0.0.0.0" })).rejects.toThrow(/exit 1.*token/is);
    const dataDir = await temporaryDirectory();
    const first = await startBridgeProgram(dataDir);
    await expect(startBridgeProgram(dataDir)).rejects.toThrow(/exit 1.*Another process owns the data directory(?!.*^ +at )/ms);
    expect((await first.call("GET", "/api/v2/tasks")).status).toBe(200);
  });

  test("the start fails with a message that states what the operator can fix", async () => {
    const dataDir = await temporaryDirectory();
    const file = path.join(dataDir, "file");
    await writeFile(file, "no database, and no directory either");
    const { port, close } = await startTcpServer(() => {});
    onTestFinished(close);
    const cases: [Record<string, string>, string][] = [
      [{ BRIDGE_PORT: String(port) }, `Port ${port} of 127.0.0.1 is in use: another program uses it`],
      [{ BRIDGE_DATA_DIR: file }, `BRIDGE_DATA_DIR cannot be "${file}": a file exists where a directory is needed`],
      [{ BRIDGE_DATABASE_URL: `sqlite:${file}` }, `BRIDGE_DATABASE_URL names ${file}, and this file is not a database`],
    ];
    for (const [setting, words] of cases) {
      const failure = await startBridgeProgram(await temporaryDirectory(), setting).then(
        () => "it started",
        (error: Error) => error.message,
      );
      expect(failure).toContain("exit 1");
      expect(failure).toContain(words);
      expect(failure).not.toContain("    at ");
    }
  });

  test("the start fails if a required sandbox does not work, and logs a warning if an optional one does not", async () => {
    const nothing = { PATH: await temporaryDirectory() };
    const start = startBridgeProgram(await temporaryDirectory(), { ...nothing, BRIDGE_SANDBOX: "required" });
    await expect(start).rejects.toThrow(/exit 1.*BRIDGE_SANDBOX=required.*apt-get install bubblewrap(?!.*^ +at )/ms);
    const bridge = await startBridgeProgram(await temporaryDirectory(), { ...nothing, BRIDGE_SANDBOX: "auto" });
    const isWarning = ({ level, msg, reason }: Record<string, unknown>) =>
      level === 40 && /without a sandbox/.test(String(msg)) && /bubblewrap/.test(String(reason));
    await expect.poll(() => bridge.log.some(isWarning)).toBe(true);
    const answer = await bridge.call("POST", "/api/v2/dispatch", { agentId: "a", message: "work" }, { prefer: "wait=10" });
    expect(await answer.json()).toMatchObject({ state: "completed" });
  });

  test("the start ends the program and releases the port if it fails halfway", async () => {
    const dataDir = await temporaryDirectory();
    const database = new SqliteDatabase(path.join(dataDir, "bridge.db"));
    migrate(database);
    database.exec(
      `INSERT INTO task (tenant, id, agent_id, provider, state, request, fingerprint, created_at, started_at)
       VALUES ('default', 'torn', 'a', 'command', 'running', 'not JSON', '', 0, 0)`,
    );
    database.close();
    const bridge = await startBridgeProgram(dataDir);
    expect(await bridge.exited).toBe(1);
    expect(bridge.stderr()).toContain("SyntaxError");
  });

  test("the start loads an adapter from a path and from a package, and lists one that cannot be loaded with its reason", async () => {
    const dataDir = await temporaryDirectory();
    const installed = path.join(dataDir, "node_modules/adapter-package");
    await mkdir(installed, { recursive: true });
    await writeFile(path.join(installed, "package.json"), JSON.stringify({ type: "module", exports: { ".": { import: "./index.js" } } }));
    await writeFile(
      path.join(installed, "index.js"),
      'import * as own from "../../own.ts"; export const createAdapter = () => ({ ...own.createAdapter(), provider: "packed" });',
    );
    await writeFile(
      path.join(dataDir, "own.ts"),
      `import type { ExecutionAdapter } from ${JSON.stringify(path.resolve("src/contract/index.ts"))};
       const no = { management: false, approvals: false, sessionResume: false, fileIo: false, mcpServers: false, tools: false, sandboxing: false, costTracking: false };
       export const createAdapter = (): ExecutionAdapter => ({
         provider: "own",
         async initialize() {}, async shutdown() {}, async cancel() { return false; },
         async checkHealth() { return { status: "healthy", connection: "in-process", version: "1", detail: null, preflight: [] }; },
         capabilities: () => ({ ...no, streaming: false, cancellation: false, outputStrategies: ["stream"] }),
         async execute({ message }) { return { status: "ok", output: message.toUpperCase(), durationMs: 1, connection: "in-process" }; },
       });`,
    );
    const bridge = await startBridgeProgram(dataDir, { BRIDGE_ADAPTERS: "./own.ts,./missing.ts,nonsense,adapter-package" });
    const answer = await bridge.call("POST", "/api/v2/dispatch", { agentId: "a", provider: "own", message: "loud" }, { prefer: "wait=10" });
    expect(await answer.json()).toMatchObject({ state: "completed", result: { output: "LOUD" } });
    const adapters = (await (await bridge.call("GET", "/api/v2/adapters")).json()) as {
      data: { provider: string; health: { status: string; detail: string } }[];
    };
    const states = adapters.data.map(({ provider, health }) => [provider, health.status, health.detail]);
    const names = catalog.map((entry) => ("provider" in entry ? entry.provider : `${entry.prefix}:<name>`)).join(", ");
    const lacks = (name: string, reason: string) => [name, "offline", `The adapter ${name} cannot be loaded: ${reason}`];
    expect(states).toEqual([
      ["own", "healthy", null],
      lacks("./missing.ts", "the file does not exist"),
      lacks("nonsense", `it is neither in the catalog (${names}) nor an installed package; the path of a file begins with ./ or /`),
      ["packed", "healthy", null],
    ]);
    const logged = bridge.log
      .filter(({ msg }) => msg === "adapter health")
      .map((line) => [line["provider"], line["health"], line["detail"]]);
    expect(logged.toSorted()).toEqual(states.toSorted());
    expect((await bridge.call("GET", "/readyz")).status).toBe(200);
  });
});

describe("agent programs on the machine without an enabled adapter", () => {
  async function install(programs: Record<string, string>): Promise<string> {
    const bin = await temporaryDirectory();
    for (const [name, script] of Object.entries(programs)) await writeFile(path.join(bin, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    return bin;
  }

  test("agent programs on the machine without an enabled adapter are logged once, with instructions to enable them", async () => {
    const [dataDir, bin] = [await temporaryDirectory(), await install({ claude: 'echo "2.1.0 (Claude Code)"', opencode: "echo 1.18.0" })];
    const bridge = await startBridgeProgram(dataDir, { PATH: `${bin}:/usr/bin:/bin` });
    await expect
      .poll(() => bridge.log.map(({ msg }) => msg))
      .toContain("installed here and not enabled: claude 2.1.0, opencode 1.18.0; to enable: BRIDGE_ADAPTERS=command,claude,opencode");
    expect(readdirSync(dataDir)).not.toContain("programs");
    bridge.signal("SIGTERM");
    expect(await bridge.exited).toBe(0);
    expect(bridge.log.filter(({ msg }) => String(msg).includes("not enabled"))).toHaveLength(1);
  });

  test("delay neither tasks nor the shutdown when they hang", async () => {
    const dataDir = await temporaryDirectory();
    const bin = await install({ claude: `echo $$ > ${dataDir}/pid; exec sleep 60`, codex: `touch ${dataDir}/codex; echo 1.0.0` });
    const bridge = await startBridgeProgram(dataDir, { PATH: `${bin}:/usr/bin:/bin`, ...shellCommand("echo done") });
    const pid = path.join(dataDir, "pid");
    await expect.poll(() => existsSync(pid) && readFileSync(pid, "utf8")).toMatch(/\d/);
    const answer = await bridge.call("POST", "/api/v2/dispatch", { agentId: "a", message: "m" }, { prefer: "wait=10" });
    expect(await answer.json()).toMatchObject({ state: "completed" });
    bridge.signal("SIGTERM");
    expect(await bridge.exited).toBe(0);
    expect(isAlive(Number(readFileSync(pid, "utf8")))).toBe(false);
    expect(existsSync(path.join(dataDir, "codex"))).toBe(false);
    expect(JSON.stringify(bridge.log)).not.toContain("not enabled");
  });
});
