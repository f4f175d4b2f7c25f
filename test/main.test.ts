import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { mkdir, open, readFile, stat, writeFile } from "node:fs/promises";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import SqliteDatabase from "better-sqlite3";
import { pino } from "pino";
import { Webhook } from "standardwebhooks";
import { describe, expect, onTestFinished, test } from "vitest";
import { catalogue } from "../adapters/index.ts";
import { createApp } from "../src/app.ts";
import { loadConfig } from "../src/config.ts";
import { migrate } from "../src/store/migrate.ts";
import { startBridgeProgram, taskInState } from "./bridge-program.ts";
import { temporaryDirectory } from "./temporary-directory.ts";

const secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;

/** A program for the command adapter, given as a script of sh. */
const shell = (script: string) => ({ BRIDGE_COMMAND: JSON.stringify(["/bin/sh", "-c", script]) });

async function startReceiver() {
  const posts: { headers: IncomingHttpHeaders; body: string }[] = [];
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    posts.push({ headers: request.headers, body });
    response.writeHead(204).end();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const close = (): void => void server.close();
  onTestFinished(close);
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`, posts, close };
}

/** A process that has ended but that nobody has collected is no longer alive. */
const isAlive = (pid: number): boolean =>
  existsSync(`/proc/${pid}/stat`) && !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, "utf8"));

describe("the start", () => {
  test("tells the address first, and the token that it made, once", async () => {
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

  test("reports every fault of the configuration at once, and no secret", async () => {
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

  test("is refused without a token on a host that others can reach, and for a second process on the same data", async () => {
    await expect(startBridgeProgram(await temporaryDirectory(), { BRIDGE_HOST: "0.0.0.0" })).rejects.toThrow(/exit 1.*token/is);
    const dataDir = await temporaryDirectory();
    const first = await startBridgeProgram(dataDir);
    await expect(startBridgeProgram(dataDir)).rejects.toThrow(/exit 1.*Another process owns the database(?!.*^ +at )/ms);
    expect((await first.call("GET", "/api/v2/tasks")).status).toBe(200);
  });

  test("tells in words what the operator can mend", async () => {
    const dataDir = await temporaryDirectory();
    const file = path.join(dataDir, "file");
    await writeFile(file, "no database, and no directory either");
    const port = new URL((await startReceiver()).url).port;
    const cases: [Record<string, string>, string][] = [
      [{ BRIDGE_PORT: port }, `address already in use 127.0.0.1:${port}. Another program listens there`],
      [{ BRIDGE_DATA_DIR: file }, `'${file}'. A file stands where a directory is needed`],
      [{ BRIDGE_DATABASE_URL: `sqlite:${file}` }, "file is not a database"],
    ];
    for (const [setting, words] of cases) {
      const told = await startBridgeProgram(await temporaryDirectory(), setting).then(
        () => "it started",
        (error: Error) => error.message,
      );
      expect(told).toContain("exit 1");
      expect(told).toContain(words);
      expect(told).not.toContain("    at ");
    }
  });

  test("is refused where there has to be a sandbox and none works; where there only should be one, it is missed aloud", async () => {
    const nothing = { PATH: await temporaryDirectory() };
    const told = startBridgeProgram(await temporaryDirectory(), { ...nothing, BRIDGE_SANDBOX: "required" });
    await expect(told).rejects.toThrow(/exit 1.*BRIDGE_SANDBOX=required.*apt-get install bubblewrap(?!.*^ +at )/ms);
    const bridge = await startBridgeProgram(await temporaryDirectory(), { ...nothing, BRIDGE_SANDBOX: "auto" });
    const isWarning = ({ level, msg }: Record<string, unknown>) => level === 40 && /in no sandbox.*bubblewrap/.test(String(msg));
    await expect.poll(() => bridge.log.some(isWarning)).toBe(true);
    const answer = await bridge.call("POST", "/api/v2/dispatch", { agentId: "a", message: "work" }, { prefer: "wait=10" });
    expect(await answer.json()).toMatchObject({ state: "completed" });
  });

  test("that fails halfway ends the program, and frees the port", async () => {
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

  test("loads an adapter from a path and from a package, and lists one that cannot be loaded with its reason", async () => {
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
    const names = Object.keys(catalogue).join(", ");
    const lacks = (name: string, reason: string) => [name, "offline", `The adapter ${name} cannot be loaded: ${reason}`];
    expect(states).toEqual([
      ["own", "healthy", null],
      lacks("./missing.ts", "there is no such file"),
      lacks("nonsense", `it is neither in the catalogue (${names}) nor a package that can be found; a file begins with ./ or /`),
      ["packed", "healthy", null],
    ]);
    const told = bridge.log.filter(({ msg }) => msg === "adapter health").map((line) => [line["provider"], line["health"], line["detail"]]);
    expect(told.toSorted()).toEqual(states.toSorted());
    expect((await bridge.call("GET", "/readyz")).status).toBe(200);
  });
});

describe("programs on the machine that could be adapters", () => {
  async function install(programs: Record<string, string>): Promise<string> {
    const bin = await temporaryDirectory();
    for (const [name, script] of Object.entries(programs)) await writeFile(path.join(bin, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    return bin;
  }

  test("are told once, with how to enable them", async () => {
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

  test("hold up neither the work nor the stop when they hang", async () => {
    const dataDir = await temporaryDirectory();
    const bin = await install({ claude: `echo $$ > ${dataDir}/pid; exec sleep 60`, codex: `touch ${dataDir}/codex; echo 1.0.0` });
    const bridge = await startBridgeProgram(dataDir, { PATH: `${bin}:/usr/bin:/bin`, ...shell("echo done") });
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

describe("the whole way", () => {
  test("a dispatch is run by a real program, and its callback arrives once, signed", async () => {
    const receiver = await startReceiver();
    const dataDir = await temporaryDirectory();
    const bridge = await startBridgeProgram(dataDir, {
      ...shell(`echo "working in $(basename "$PWD")"; echo '{"type":"result","output":"done","usage":{"inputTokens":3,"outputTokens":2}}'`),
      BRIDGE_CALLBACK_SECRETS: secret,
    });
    const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    const body = { taskId: "t1", agentId: "writer", message: "go", callbackUrl: receiver.url, metadata: { step: 7 } };
    const accepted = await bridge.call("POST", "/api/v2/dispatch", body, { traceparent });
    expect([accepted.status, accepted.headers.get("location")]).toEqual([202, "/api/v2/tasks/t1"]);
    await expect.poll(() => receiver.posts.length).toBe(1);
    const [post] = receiver.posts;
    const verified = new Webhook(secret).verify(post?.body ?? "", post?.headers as Record<string, string>);
    expect(verified).toMatchObject({
      taskId: "t1",
      agentId: "writer",
      provider: "command",
      status: "ok",
      output: "done",
      usage: { inputTokens: 3 },
      metadata: { step: 7 },
    });
    expect(post?.headers).toMatchObject({ "idempotency-key": "t1", traceparent });
    const repeat = await bridge.call("POST", "/api/v2/dispatch", body);
    expect([repeat.status, repeat.headers.get("idempotent-replayed")]).toEqual([202, "true"]);
    const callbackOf = async () => ((await taskInState(bridge, "t1", "completed")) as { callback: unknown }).callback;
    await expect.poll(callbackOf).toMatchObject({ state: "delivered", attempts: 1 });
    expect(receiver.posts).toHaveLength(1);
    expect(readdirSync(path.join(dataDir, "tmp"))).toEqual([]);
  });

  test("a task of a tenant that names itself like another's task is kept apart down to the runtime", async () => {
    const dataDir = await temporaryDirectory();
    const sha256 = async (text: string) =>
      Buffer.from(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text))).toString("hex");
    const entry = async (tenant: string) => ({
      name: tenant,
      tenant,
      sha256: await sha256(`token-of-${tenant}`),
      scopes: ["dispatch", "read"],
    });
    await writeFile(path.join(dataDir, "tokens.json"), JSON.stringify([await entry("acme"), await entry("default")]));
    const bridge = await startBridgeProgram(dataDir, {
      ...shell('echo "$BRIDGE_TASK_ID $PWD"; sleep 0.2'),
      BRIDGE_TOKENS_FILE: path.join(dataDir, "tokens.json"),
    });
    const outputs = await Promise.all(
      ["acme", "default"].map(async (tenant) => {
        const headers = { authorization: `Bearer token-of-${tenant}`, prefer: "wait=10" };
        const answer = await bridge.call("POST", "/api/v2/dispatch", { taskId: "same", agentId: "a", message: "x" }, headers);
        return ((await answer.json()) as { result: { output: string } }).result.output;
      }),
    );
    expect(outputs).toEqual([`acme/same ${dataDir}/workspaces/acme/a\n`, `same ${dataDir}/workspaces/default/a\n`]);
  });
});

describe("the stop", () => {
  test("SIGTERM lets running tasks end, refuses new ones, ends streams with a word, and exits 0", async () => {
    const receiver = await startReceiver();
    const dataDir = await temporaryDirectory();
    const gate = path.join(dataDir, "gate");
    const bridge = await startBridgeProgram(dataDir, shell(`while [ ! -e ${gate} ]; do sleep 0.05; done; echo finished`));
    await bridge.call("POST", "/api/v2/dispatch", { taskId: "t1", agentId: "a", message: "x", callbackUrl: receiver.url });
    await taskInState(bridge, "t1", "running");
    const stream = (await bridge.call("GET", "/api/events", undefined, { accept: "text/event-stream" })).text();
    bridge.signal("SIGTERM");
    await expect.poll(async () => (await bridge.call("GET", "/readyz")).status).toBe(503);
    const refused = await bridge.call("POST", "/api/v2/dispatch", { agentId: "a", message: "x" });
    expect([refused.status, ((await refused.json()) as { code: string }).code, refused.headers.has("retry-after")]).toEqual([
      503,
      "draining",
      true,
    ]);
    expect((await bridge.call("GET", "/healthz")).status).toBe(200);
    await writeFile(gate, "");
    expect(await bridge.exited).toBe(0);

    expect(await stream).toMatch(/event: execution\.completed[\s\S]*event: stream\.closing\ndata: \{"reason":"shutdown"\}\n\n$/);
    expect(receiver.posts.map(({ body }) => JSON.parse(body))).toMatchObject([{ taskId: "t1", status: "ok", output: "finished\n" }]);
  });

  test("what does not end in time is stopped with all its processes; a second signal ends Bridge at once", async () => {
    const dataDir = await temporaryDirectory();
    const file = path.join(dataDir, "pid");
    const bridge = await startBridgeProgram(dataDir, {
      ...shell(`setsid sleep 300 & echo $! > ${file}; sleep 300`),
      BRIDGE_DRAIN_SECONDS: "0",
    });
    await bridge.call("POST", "/api/v2/dispatch", { taskId: "t1", agentId: "a", message: "x" });
    await expect.poll(() => existsSync(file)).toBe(true);
    bridge.signal("SIGTERM");
    expect(await bridge.exited).toBe(0);
    const again = await startBridgeProgram(dataDir, shell("sleep 300"));
    expect(await taskInState(again, "t1", "failed")).toMatchObject({ result: { errorCode: "bridge_shutdown" } });
    expect(isAlive(Number(await readFile(file, "utf8")))).toBe(false);

    await again.call("POST", "/api/v2/dispatch", { taskId: "t2", agentId: "a", message: "x" });
    await taskInState(again, "t2", "running");
    again.signal("SIGTERM");
    await expect.poll(async () => (await again.call("GET", "/readyz")).status).toBe(503);
    again.signal("SIGTERM");
    expect(await again.exited).not.toBe(0);
  });

  test("ends also when whoever reads its log has ended first", async () => {
    const bridge = await startBridgeProgram(await temporaryDirectory());
    const { promise: stopping, resolve } = Promise.withResolvers<void>();
    const push = bridge.log.push.bind(bridge.log);
    bridge.log.push = (...lines) => {
      if (lines.some(({ msg }) => msg === "stopping")) resolve();
      return push(...lines);
    };
    bridge.signal("SIGINT");
    await stopping;
    bridge.closeLog();
    expect(await bridge.exited).toBe(0);
  });

  test("ends also when whoever reads its log stands still", async () => {
    const bridge = await startBridgeProgram(await temporaryDirectory());
    bridge.holdLog();
    // Each leaves a line of more than 1 KiB: together more than fits between the two.
    const place = `/api/v2/gateway/command/skills/${encodeURIComponent("世".repeat(128))}`;
    const refused = await Promise.all(Array.from({ length: 400 }, async () => (await bridge.call("DELETE", place)).status));
    expect(new Set(refused)).toEqual(new Set([404]));
    bridge.signal("SIGTERM");
    expect(await bridge.exited).toBe(0);
  });

  test("in the middle of the start waits for the start", async () => {
    const environment = { BRIDGE_PORT: "0", BRIDGE_DATA_DIR: await temporaryDirectory(), BRIDGE_GATEWAY_TOKEN_HASH: "0".repeat(64) };
    const stopped = Promise.withResolvers<void>();
    const stopAt = (line: string): void => {
      if (line.includes('"listening"')) stopped.resolve(app.close());
    };
    const app = await createApp(loadConfig(environment).config, pino({}, { write: stopAt }), { environment });
    await expect(app.start()).resolves.toMatch(/^http:/);
    await stopped.promise;
  });

  test("comes to its end, and does not come by itself, where the log cannot be written", async () => {
    const { url, close } = await startReceiver();
    close();
    const full = await open("/dev/full", "w");
    const bridge = spawn(process.execPath, [path.resolve("src/main.ts")], {
      env: { PATH: "/usr/bin:/bin", BRIDGE_PORT: new URL(url).port, BRIDGE_DATA_DIR: await temporaryDirectory() },
      stdio: ["ignore", full.fd, "ignore"],
    });
    onTestFinished(() => void bridge.kill("SIGKILL"));
    await full.close();
    const exited = once(bridge, "exit");
    const isReady = () =>
      fetch(new URL("/readyz", url)).then(
        ({ ok }) => ok,
        () => false,
      );
    // The first line is long lost by then.
    await expect.poll(isReady, { timeout: 15_000 }).toBe(true);
    bridge.kill("SIGTERM");
    expect(await exited).toEqual([0, null]);
  });

  test("an error that nobody caught, be it an adapter's, stops Bridge in peace and with exit code 1", async () => {
    const dataDir = await temporaryDirectory();
    const gate = path.join(dataDir, "gate");
    const echo = await readFile("examples/adapter/echo-adapter.js", "utf8");
    await writeFile(
      path.join(dataDir, "echo.mjs"),
      echo.replace("execute(request) {", 'execute(request) { Promise.reject(new Error("floating"));'),
    );
    const bridge = await startBridgeProgram(dataDir, {
      ...shell(`while [ ! -e ${gate} ]; do sleep 0.05; done; echo finished`),
      BRIDGE_ADAPTERS: "command,./echo.mjs",
    });
    await bridge.call("POST", "/api/v2/dispatch", { taskId: "t1", agentId: "a", provider: "command", message: "x" });
    await taskInState(bridge, "t1", "running");
    await bridge.call("POST", "/api/v2/dispatch", { agentId: "a", provider: "echo", message: "x" });
    await expect.poll(async () => (await bridge.call("GET", "/readyz")).status).toBe(503);
    await writeFile(gate, "");
    expect(await bridge.exited).toBe(1);
    expect(bridge.log).toContainEqual(expect.objectContaining({ level: 60, err: expect.objectContaining({ message: "floating" }) }));

    const next = await startBridgeProgram(dataDir);
    expect(await taskInState(next, "t1", "completed")).toMatchObject({ result: { output: "finished\n" } });
  });

  test("after kill -9 the next start kills what was left behind, ends the task honestly, and delivers its callback", async () => {
    const receiver = await startReceiver();
    const dataDir = await temporaryDirectory();
    const file = path.join(dataDir, "pid");
    const killed = await startBridgeProgram(dataDir, shell(`setsid sleep 300 & echo $! > ${file}; sleep 300`));
    await killed.call("POST", "/api/v2/dispatch", { taskId: "t1", agentId: "a", message: "x", callbackUrl: receiver.url });
    await expect.poll(() => existsSync(file)).toBe(true);
    await taskInState(killed, "t1", "running");
    killed.signal("SIGKILL");
    expect(await killed.exited).toBe("SIGKILL");
    const leftover = Number(await readFile(file, "utf8"));
    expect(isAlive(leftover)).toBe(true);

    const next = await startBridgeProgram(dataDir);
    expect(await taskInState(next, "t1", "failed")).toMatchObject({ result: { errorCode: "bridge_restarted" } });
    expect(isAlive(leftover)).toBe(false);
    await expect.poll(() => receiver.posts.length).toBe(1);
    expect(JSON.parse(receiver.posts[0]?.body ?? "")).toMatchObject({ taskId: "t1", status: "error", errorCode: "bridge_restarted" });
  });
});
