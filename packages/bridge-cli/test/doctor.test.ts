import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { verifyCallback } from "bridge-client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startBridgeApp } from "../../../test/support/bridge-app.ts";
import { type BridgeProgram, SHARED_TOKEN, startBridgeProgram } from "../../../test/support/bridge-program.ts";
import { findFreePort } from "../../../test/support/find-free-port.ts";
import { startBridge } from "../../../test/support/start-bridge.ts";
import { startReceiver } from "../../../test/support/start-receiver.ts";
import { temporaryDirectory } from "../../../test/support/temporary-directory.ts";
import type { Check } from "../src/doctor/check.ts";
import { startBufferingProxy } from "./buffering-proxy.ts";
import { accessTo, type CliOptions, runCli } from "./start-cli.ts";

const SECRET = `whsec_${Buffer.alloc(24, 7).toString("base64")}`;
const repository = path.resolve(import.meta.dirname, "../../..");

/** A Bridge without faults, for the faults of the way to it. */
let bridge: BridgeProgram;
let token: string;
const atEnd: (() => unknown)[] = [];
beforeAll(async () => {
  const dataDir = path.join(repository, "node_modules/.cache", `doctor-${process.pid}`);
  await mkdir(dataDir, { recursive: true });
  bridge = await startBridgeProgram(dataDir, {}, (act) => void atEnd.push(act));
  token = readFileSync(path.join(dataDir, "token"), "utf8").trim();
});
afterAll(async () => {
  for (const act of atEnd.toReversed()) await act();
});

interface DoctorOptions extends CliOptions {
  token?: string | null;
  args?: readonly string[];
}

/** Runs `brg doctor` and returns its faults. */
async function examine(url: string, options: DoctorOptions = {}) {
  const access = options.token === null ? {} : { BRIDGE_TOKEN: options.token ?? token };
  const { exitCode, stdout, stderr } = await runCli(["doctor", "--json", ...(options.args ?? [])], {
    ...options,
    env: { BRIDGE_URL: url, ...access, ...options.env },
  });
  expect(stderr).toBe("");
  const report = JSON.parse(stdout) as { ok: boolean; checks: Check[] };
  expect(exitCode).toBe(report.ok ? 0 : 1);
  const of = (result: Check["result"]) => report.checks.filter((check) => check.result === result);
  return { ok: report.ok, checks: report.checks, faults: of("failed"), warnings: of("warning") };
}

/** Starts a Bridge in a new directory, and examines it. */
async function startAndExamine(settings: Record<string, string>, options: DoctorOptions = {}) {
  const started = await startBridgeApp(await temporaryDirectory(), settings);
  const report = await examine(started.url, { token: SHARED_TOKEN, ...options });
  await started.close();
  return report;
}

/** Starts a Bridge with other programs on its PATH, and examines it. */
async function startProgramAndExamine(environment: Record<string, string>, options: DoctorOptions = {}) {
  const directory = await temporaryDirectory();
  const program = await startBridgeProgram(directory, environment);
  const report = await examine(program.url, { token: (await readFile(path.join(directory, "token"), "utf8")).trim(), ...options });
  program.signal("SIGKILL");
  await program.exited;
  return report;
}

test("brg doctor finds no fault in a Bridge without faults, and lists every check", async () => {
  const { ok, checks } = await examine(bridge.url);
  expect(ok).toBe(true);
  expect(checks.map(({ check, result }) => `${check} ${result}`)).toEqual([
    ...[
      "node ok",
      "address ok",
      "ready ok",
      "clock ok",
      "version ok",
      "retries ok",
      "token ok",
      "scopes ok",
      "signatures warning",
      "dead callbacks ok",
      "events ok",
      "adapter command ok",
    ],
  ]);
});

describe("brg doctor finds and names the remedy of", () => {
  test("an old Node", async () => {
    const preload = (version: string): string =>
      `--import data:text/javascript,Object.defineProperty(process,'versions',{value:{...process.versions,node:'${version}'}})`;
    const { exitCode, stderr } = await runCli(["doctor"], { nodeOptions: preload("22.18.0") });
    expect({ exitCode, stderr }).toEqual({
      exitCode: 1,
      stderr: expect.stringMatching(/Node 22\.18\.0 is too old.*22\.19 or newer\.\nInstall it/),
    });
    const manifest = await readFile(path.join(repository, "packages/bridge-cli/package.json"), "utf8");
    expect(JSON.parse(manifest)).toMatchObject({ engines: { node: ">=22.19" } });
    expect((await examine(bridge.url, { nodeOptions: preload("22.19.0") })).ok).toBe(true);
  });

  test("an address at which nothing listens", async () => {
    const port = await findFreePort();
    const url = `http://127.0.0.1:${port}`;
    const { faults, checks } = await examine(url, { token: "any" });
    expect(faults).toEqual([
      {
        check: "address",
        result: "failed",
        detail: expect.stringMatching(/BRIDGE_URL.*ECONNREFUSED/),
        remedy: expect.stringContaining("npm start"),
      },
    ]);
    expect(checks.filter(({ result }) => result === "skipped").map(({ check }) => check)).toEqual(["events", "adapters"]);
    const started = await startAndExamine({ BRIDGE_PORT: String(port) });
    expect(started.ok).toBe(true);
  });

  test("an address at which another server listens", async () => {
    const other = await startReceiver((response) => response.end("<html>"));
    const { faults } = await examine(other.origin, { token: "any" });
    expect(faults).toMatchObject([
      { check: "address", detail: expect.stringContaining("is not a Bridge"), remedy: expect.stringContaining("Correct BRIDGE_URL") },
    ]);
    await other.close();
  });

  test("a missing token", async () => {
    const home = await temporaryDirectory();
    const { faults } = await examine(bridge.url, { token: null, cwd: home });
    expect(faults).toMatchObject([{ check: "token", remedy: expect.stringContaining(`brg profile add <name> --url ${bridge.url}`) }]);
    await runCli(["profile", "add", "mended", "--url", bridge.url], { cwd: home, input: token });
    expect((await examine(bridge.url, { token: null, cwd: home })).ok).toBe(true);
  });

  test("a token that Bridge rejects, without printing it", async () => {
    const { faults } = await examine(bridge.url, { token: "wrong-token" });
    expect(faults).toMatchObject([{ check: "token", remedy: expect.stringContaining("Set BRIDGE_TOKEN to a valid token") }]);
    expect(JSON.stringify(faults)).not.toContain("wrong-token");
  });

  test("a token that lacks a scope", async () => {
    const dataDir = await temporaryDirectory();
    const tokensFile = path.join(dataDir, "tokens.json");
    const write = (scopes: string[]): Promise<void> =>
      writeFile(tokensFile, JSON.stringify([{ name: "laptop", tenant: "team", sha256: hash("sha256", "secret"), scopes }]));
    await write(["read"]);
    const program = await startBridgeApp(dataDir, { BRIDGE_TOKENS_FILE: tokensFile });
    const { faults, warnings } = await examine(program.url, { token: "secret" });
    expect(faults).toMatchObject([
      {
        check: "scopes",
        detail: expect.stringContaining('lacks the scope "dispatch"'),
        remedy: expect.stringContaining('Add "dispatch" to the scopes of "laptop" in BRIDGE_TOKENS_FILE'),
      },
    ]);
    const ofScopes = warnings.filter(({ check }) => check === "scopes");
    expect(ofScopes.map(({ detail }) => /scope "(\w+)"/.exec(detail)?.[1])).toEqual(["approve", "manage"]);
    await write(["read", "dispatch", "approve", "manage"]);
    // Bridge reloads the file by itself.
    const me = async () =>
      (await (await program.call("GET", "/api/v2/me", undefined, { authorization: "Bearer secret" })).json()) as object;
    await expect.poll(me).toMatchObject({ scopes: expect.arrayContaining(["manage"]) });
    expect((await examine(program.url, { token: "secret" })).ok).toBe(true);
  });

  test("a clock that is wrong", async () => {
    const nodeOptions = `--import ${pathToFileURL(path.join(repository, "test/cluster/shift-clock.ts"))}`;
    const shifted = (ms: number) => examine(bridge.url, { nodeOptions, env: { TEST_CLOCK_SHIFT_MS: String(ms) } });
    expect((await shifted(600_000)).faults).toMatchObject([
      {
        check: "clock",
        detail: expect.stringMatching(/is (9|10) min .* ahead of/),
        remedy: expect.stringContaining("timedatectl set-ntp true"),
      },
    ]);
    expect((await shifted(-600_000)).faults).toMatchObject([{ check: "clock", detail: expect.stringContaining("behind") }]);
    expect((await shifted(0)).ok).toBe(true);
  });

  test("a proxy that buffers event streams", async () => {
    const proxy = await startBufferingProxy(bridge.url);
    const { faults } = await examine(proxy.url);
    expect(faults).toMatchObject([
      {
        check: "events",
        detail: expect.stringMatching(/sent nothing for .* 3 plain requests were answered/),
        remedy: expect.stringContaining("proxy_buffering off;"),
      },
    ]);
    proxy.disableBuffering();
    expect((await examine(proxy.url)).ok).toBe(true);
  });

  test("an agent program that is not installed", async () => {
    const [dataDir, programs] = [await temporaryDirectory(), await temporaryDirectory()];
    const program = await startBridgeProgram(dataDir, { BRIDGE_ADAPTERS: "command,claude", PATH: `${programs}:/usr/bin:/bin` });
    const access = { token: (await readFile(path.join(dataDir, "token"), "utf8")).trim() };
    const { faults } = await examine(program.url, access);
    expect(faults).toMatchObject([
      {
        check: "adapter claude",
        detail: expect.stringContaining("offline"),
        remedy: expect.stringContaining("npm install -g @anthropic-ai/claude-code"),
      },
    ]);
    expect((await examine(program.url, { ...access, args: ["--provider", "command"] })).ok).toBe(true);
    await installClaude(programs);
    // Bridge does not repeat a check that ended in the last seconds.
    const check = async () => (await (await program.call("POST", "/api/v2/adapters/claude/check")).json()) as object;
    await expect.poll(check).toMatchObject({ health: { status: "healthy" } });
    expect((await examine(program.url, access)).ok).toBe(true);
  });

  test("an API key that is not set", async () => {
    const programs = await temporaryDirectory();
    await installClaude(programs, '[ -n "$ANTHROPIC_API_KEY" ] && in=true || in=false;');
    const environment = { BRIDGE_ADAPTERS: "claude", PATH: `${programs}:/usr/bin:/bin` };
    const { faults } = await startProgramAndExamine(environment);
    expect(faults).toMatchObject([
      {
        check: "adapter claude",
        detail: expect.stringContaining("degraded: not logged in"),
        remedy: expect.stringContaining("set ANTHROPIC_API_KEY"),
      },
    ]);
    expect((await startProgramAndExamine({ ...environment, ANTHROPIC_API_KEY: "sk-any" })).ok).toBe(true);
  });

  test("an adapter that is not loaded", async () => {
    const { faults } = await examine(bridge.url, { args: ["--provider", "codex"] });
    expect(faults).toMatchObject([{ check: "adapter codex", remedy: "Restart Bridge with BRIDGE_ADAPTERS=command,codex" }]);
  });

  test("a Bridge without an adapter that works", async () => {
    const { faults } = await startProgramAndExamine({ BRIDGE_ADAPTERS: "gemini" });
    expect(faults).toMatchObject([
      { check: "ready", detail: expect.stringContaining("No adapter is online."), remedy: expect.stringContaining("Mend an adapter") },
      { check: "adapter gemini", remedy: expect.stringContaining("npm install -g @google/gemini-cli") },
    ]);
  });

  test("a sandbox that does not work", async () => {
    const programs = await temporaryDirectory();
    await writeFile(path.join(programs, "bwrap"), "#!/bin/sh\necho 'No permissions to create a new namespace' >&2; exit 1\n", {
      mode: 0o755,
    });
    const { faults } = await startProgramAndExamine({ BRIDGE_SANDBOX: "auto", PATH: `${programs}:/usr/bin:/bin` });
    expect(faults).toMatchObject([
      {
        check: "sandbox",
        detail: expect.stringMatching(/without a sandbox: .*unprivileged user namespaces.*No permissions/),
        remedy: expect.stringMatching(/apt-get install bubblewrap.*BRIDGE_SANDBOX=off/),
      },
    ]);
    expect((await startAndExamine({ BRIDGE_SANDBOX: "off" })).ok).toBe(true);
  });

  test("a callback address that Bridge refuses, and a receiver with the right secret gets a signed callback after the remedy", async () => {
    const receiver = await startReceiver(async (response, request) => {
      const { body = Buffer.alloc(0) } = receiver.posts.at(-1) ?? {};
      response.writeHead((await verifyCallback(request.headers, body, [SECRET])) === null ? 401 : 204).end();
    });
    const args = ["--callback", `${receiver.origin}/results`];
    const { faults } = await startAndExamine({ BRIDGE_CALLBACK_ALLOW: "" }, { args });
    expect(faults).toMatchObject([{ check: "callback", remedy: expect.stringContaining("BRIDGE_CALLBACK_ALLOW=127.0.0.1") }]);
    expect(receiver.posts).toEqual([]);

    const unsigned = await startAndExamine({ BRIDGE_CALLBACK_ALLOW: "127.0.0.1" }, { args });
    expect(unsigned.faults).toMatchObject([
      { check: "callback", detail: expect.stringContaining("http_401"), remedy: expect.stringContaining("BRIDGE_CALLBACK_SECRETS") },
    ]);

    const mended = await startAndExamine({ BRIDGE_CALLBACK_ALLOW: "127.0.0.1", BRIDGE_CALLBACK_SECRETS: SECRET }, { args });
    expect(mended.faults).toEqual([]);
    expect(mended.checks.at(-1)).toMatchObject({ check: "callback", result: "ok", detail: expect.stringContaining("HTTP 204") });
    await receiver.close();
  });

  test("a callback address at which nothing listens, and removes its task when a receiver accepts the callback", async () => {
    const args = ["--callback", `http://127.0.0.1:${await findFreePort()}`];
    const { faults } = await examine(bridge.url, { args });
    expect(faults).toMatchObject([
      { check: "callback", detail: expect.stringContaining("connection_refused"), remedy: expect.stringContaining("Start the receiver") },
    ]);
    const receiver = await startReceiver();
    expect((await examine(bridge.url, { args: ["--callback", receiver.origin] })).ok).toBe(true);
    const [accepted] = receiver.taskIds();
    expect((await bridge.call("GET", `/api/v2/tasks/${accepted}`)).status).toBe(404);
    await receiver.close();
  });

  test("dead callbacks, until they are acknowledged, and callbacks that are not signed", async () => {
    const receiver = await startReceiver((response) => response.writeHead(500).end());
    const failing = await startBridge();
    const env = accessTo(failing);
    const warn = async (url: string, from: Record<string, string>) => (await examine(url, { env: from })).warnings;
    const isDead = ({ check }: Check): boolean => check === "dead callbacks";
    for (const taskId of ["dead-1", "dead-2"]) await failing.dispatch({ taskId, callbackUrl: `${receiver.origin}/results` });
    await expect.poll(async () => (await failing.call("GET", "/api/v2/callbacks?state=dead")).body.data).toHaveLength(2);
    const warnings = await warn(failing.url, env);
    expect(warnings.filter(({ check }) => check === "signatures")).toMatchObject([
      { remedy: expect.stringContaining("Set BRIDGE_CALLBACK_SECRETS") },
    ]);
    const command = `brg attention --acknowledge callback --receiver ${receiver.origin}`;
    expect(warnings.filter(isDead)).toEqual([
      {
        check: "dead callbacks",
        result: "warning",
        detail: `Bridge no longer retries 2 callback(s): ${receiver.origin} (2).`,
        remedy: `Mend the receiver, then run: brg redeliver --dead --origin ${receiver.origin}, or acknowledge them: ${command}`,
      },
    ]);
    expect((await runCli(command.split(" ").slice(1), { env })).exitCode).toBe(0);
    expect((await warn(failing.url, env)).filter(isDead)).toEqual([]);
    await failing.close();
    const signing = await startBridge({ BRIDGE_CALLBACK_SECRETS: SECRET });
    expect((await warn(signing.url, accessTo(signing))).filter(({ check }) => check === "signatures")).toEqual([]);
    await signing.close();
    await receiver.close();
  });

  test("a receiver that fails, and leaves no probe behind although Bridge retries callbacks", async () => {
    const receiver = await startReceiver((response) => response.writeHead(500).end());
    const retrying = await startBridge({ BRIDGE_CALLBACK_RETRIES: "three-days" });
    const { stdout } = await runCli(["doctor", "--json", "--callback", receiver.origin], { env: accessTo(retrying) });
    const { checks } = JSON.parse(stdout) as { checks: Check[] };
    expect(checks).toContainEqual(expect.objectContaining({ check: "callback", detail: expect.stringContaining("http_500") }));
    expect(checks).toContainEqual(expect.objectContaining({ check: "retries", detail: expect.stringMatching(/24 time\(s\), over 3 d/) }));
    expect(receiver.posts).toHaveLength(1);
    for (const list of ["tasks?agentId=bridge-doctor", "callbacks"])
      expect((await retrying.call("GET", `/api/v2/${list}`)).body.data).toEqual([]);
    expect((await retrying.call("GET", "/api/v2/stats")).body.total.tasks).toBe(0);
    // A caller may use the name of its agent. Such a task is no probe.
    const [{ provider }] = (await retrying.call("GET", "/api/v2/adapters")).body.data;
    const { body } = await retrying.call("POST", "/api/v2/dispatch", {
      body: { taskId: "nightly", agentId: "bridge-doctor", provider, message: "work", callbackUrl: receiver.origin },
    });
    expect(body).toMatchObject({ taskId: "nightly" });
    await retrying.call("POST", "/api/v2/tasks/nightly/cancel");
    await expect
      .poll(async () => (await retrying.call("GET", "/api/v2/callbacks/nightly")).body)
      .toMatchObject({ state: "pending", lastStatus: 500 });
    await retrying.close();
    await receiver.close();
  });
});

/** Installs a program that answers the health check of the adapter `claude`. It is signed in unless `login` sets `in` to false. */
async function installClaude(directory: string, login = "in=true;"): Promise<void> {
  const flags = "--restricted --setting-sources --settings --strict-mcp-config --permission-prompts --system-prompt-snapshot --tools";
  const status = `${login} echo "{\\"loggedIn\\":$in,\\"authMethod\\":\\"api_key\\",\\"apiProvider\\":\\"firstParty\\"}"`;
  const script = `case "$1" in --version) echo "2.1.328 (Claude Code)";; --help) echo "${flags}";; auth) ${status};; esac`;
  await writeFile(path.join(directory, "claude"), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
}
