import { cpSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { processesOf } from "../../conformance/adapter-bench.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { init, openSdk, result, say } from "./sdk-fixture.ts";

const flags = "--restricted --setting-sources --settings --strict-mcp-config --system-prompt-snapshot --tools";
const asks = `case "$1" in --version) echo "2.1.328 (Claude Code)"; exit;; --help) echo "${flags}"; exit;;`;
const loggedIn = `auth) echo '{"loggedIn":true,"authMethod":"api_key","apiProvider":"firstParty"}'; exit;; esac`;

describe("health", () => {
  test("health is offline without the package and names what to install", async () => {
    const { adapter } = await openSdk(null, { package: await temporaryDirectory() });
    const health = await adapter.checkHealth();
    expect(health).toMatchObject({ status: "offline", connection: null });
    expect(health.detail).toMatch(
      /not installed in the directory of BRIDGE_CLAUDE_AGENT_SDK_PACKAGE\. Run npm install --no-save @anthropic-ai\/claude-agent-sdk@/,
    );
  });

  test("health searches Bridge's own installation when no directory is configured", async () => {
    const { adapter, run } = await openSdk(null, { package: undefined, command: undefined });
    expect((await adapter.checkHealth()).detail).toMatch(/not installed with Bridge\. Run npm install .*BRIDGE_CLAUDE_AGENT_SDK_PACKAGE/);
    expect(await run()).toMatchObject({ status: "error", errorCode: "adapter_offline", connection: "in-process" });
  });

  test("health finds a package that is installed while Bridge runs at the next check", async () => {
    const directory = await temporaryDirectory();
    const { adapter, root } = await openSdk(`${asks} ${loggedIn}`, { package: directory });
    expect(await adapter.checkHealth()).toMatchObject({ status: "offline" });
    cpSync(path.join(root, "sdk"), directory, { recursive: true });
    expect(await adapter.checkHealth()).toMatchObject({ status: "healthy" });
  });

  test("health reports a missing executable when only the package is installed", async () => {
    const { adapter } = await openSdk(null, { command: undefined });
    expect((await adapter.checkHealth()).detail).toMatch(
      /9\.9\.9 is installed without its executable for this platform\. Run npm install .*--include=optional/,
    );
  });

  test("health uses the executable that npm installed with the package", async () => {
    const { adapter } = await openSdk(`${asks} ${loggedIn}`, { command: undefined, hasPlatformPackage: true });
    const detail = "in-process: @anthropic-ai/claude-agent-sdk 9.9.9 with Claude Code 2.1.328";
    expect(await adapter.checkHealth()).toMatchObject({
      status: "healthy",
      connection: "in-process",
      version: "9.9.9",
      preflight: [{ detail }, {}, {}, {}],
    });
  });

  test("health rejects a package without query() and a program without the required flags", async () => {
    const other = await openSdk(`${asks} ${loggedIn}`, { sdk: "export const ask = 1;" });
    expect(await other.adapter.checkHealth()).toMatchObject({
      status: "offline",
      detail: expect.stringContaining("does not export query()"),
    });
    const old = await openSdk('case "$1" in --version) echo "2.0.1 (Claude Code)";; --help) echo "--tools";; esac');
    expect(await old.adapter.checkHealth()).toMatchObject({
      status: "offline",
      detail: expect.stringContaining("claude 2.0.1 does not support --restricted"),
    });
  });
});

describe("a task on the SDK", () => {
  test("a task on the SDK keeps the reported result when the SDK throws after it", async () => {
    const { run } = await openSdk(
      `${init}; ${say("Nearly.")}; ${result({ is_error: true, api_error_status: 429, result: "slow down" })}; exit 1`,
    );
    expect(await run()).toMatchObject({ status: "error", errorCode: "rate_limited", error: expect.stringContaining("slow down") });
  });

  test("a task on the SDK ignores messages of unknown types", async () => {
    const strange = `echo '{"type":"hologram"}'; echo '{"type":"assistant"}'; echo no json; echo '{"type":"system","subtype":"new"}'`;
    const { run } = await openSdk(`${init}; ${strange}; ${say("Hello.")}; ${result({ later: {} })}`);
    expect(await run()).toMatchObject({ status: "ok", output: "Hello.", model: "m", resumeToken: "s-1", connection: "in-process" });
  });

  test("a task on the SDK reports a crash and stderr when its program ends without a result", async () => {
    const { run } = await openSdk(`${init}; echo "out of memory" >&2; exit 9`);
    expect(await run()).toMatchObject({
      status: "error",
      errorCode: "runtime_crashed",
      error: "The program claude exited with code 9. out of memory",
    });
    const silent = await openSdk(init);
    expect(await silent.run()).toMatchObject({
      status: "error",
      errorCode: "adapter_error",
      error: expect.stringContaining("without a result"),
    });
  });

  test("a task on the SDK reports a program that cannot be started", async () => {
    const { run } = await openSdk("", { interpreter: "#!/nowhere/sh" });
    expect(await run()).toMatchObject({ status: "error", errorCode: "spawn_failed" });
  });

  test("a task on the SDK fails when the SDK throws before it starts a program", async () => {
    const { run } = await openSdk("", {
      sdk: "export const query = () => ({ async *[Symbol.asyncIterator]() { throw new Error('Invalid option.'); } });",
    });
    expect(await run()).toMatchObject({
      status: "error",
      errorCode: "adapter_error",
      error: "The Claude Agent SDK ended without a result. Invalid option.",
    });
    const thrown = await openSdk("", { sdk: "export const query = () => { throw new Error('Invalid option.'); };" });
    expect(await thrown.run()).toMatchObject({
      status: "error",
      errorCode: "adapter_error",
      error: expect.stringContaining("Invalid option."),
    });
  });

  test("a task on the SDK reports its cost after a cancel when its program answers the interrupt", async () => {
    const spent = {
      model_usage_since_last_result: {
        m: { inputTokens: 1, outputTokens: 2, cacheReadInputTokens: 0, cacheCreationInputTokens: 0, costUSD: 0.5 },
      },
    };
    const listens = `while read -r line; do case "$line" in *interrupt*) ${result({ subtype: "error_during_execution", is_error: true, ...spent })};; esac; done`;
    const { start, adapter } = await openSdk(`${init}; ${say("I wait.")}; ${listens}`);
    const task = start();
    await expect.poll(() => task.events.length, { interval: 5 }).toBe(1);
    await adapter.cancel(task.request.taskId);
    const { result: ended } = await task.done;
    expect(ended).toMatchObject({ status: "error", errorCode: "cancelled", output: "I wait.", costUsd: 0.5, usage: { outputTokens: 2 } });
  });

  test("a task on the SDK leaves no process after a cancel when its program ignores the interrupt", async () => {
    const { start, adapter } = await openSdk(`${init}; ${say("I wait.")}; sleep 60 & wait`);
    const task = start();
    await expect.poll(() => task.events.length, { interval: 5 }).toBe(1);
    await adapter.cancel(task.request.taskId);
    expect((await task.done).result).toMatchObject({ status: "error", errorCode: "cancelled", output: "I wait." });
    expect(processesOf(task.request.taskId)).toEqual([]);
  });

  test("a task on the SDK fails with output_limit when its program prints a line that is too long", async () => {
    const { run } = await openSdk(`${init}; head -c 9000000 /dev/zero | tr '\\0' x; sleep 60`);
    expect(await run()).toMatchObject({ status: "error", errorCode: "output_limit" });
  });
});
