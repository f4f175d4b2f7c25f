import { cpSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { processesOf } from "../../conformance/adapter-bench.ts";
import { temporaryDirectory } from "../../temporary-directory.ts";
import { init, openBench, result, say } from "./sdk-bench.ts";

const flags = "--restricted --setting-sources --settings --strict-mcp-config --system-prompt-snapshot --tools";
const asks = `case "$1" in --version) echo "2.1.328 (Claude Code)"; exit;; --help) echo "${flags}"; exit;;`;
const loggedIn = `auth) echo '{"loggedIn":true,"authMethod":"api_key","apiProvider":"firstParty"}'; exit;; esac`;

describe("health", () => {
  test("without the package it is offline, with what to install", async () => {
    const { adapter } = await openBench(null, { package: await temporaryDirectory() });
    const health = await adapter.checkHealth();
    expect(health).toMatchObject({ status: "offline", connection: null });
    expect(health.detail).toMatch(
      /not installed in the directory of BRIDGE_CLAUDE_AGENT_SDK_PACKAGE: npm install --no-save @anthropic-ai\/claude-agent-sdk@/,
    );
  });

  test("Bridge's own installation has none, and is searched where no directory is named", async () => {
    const { adapter, run } = await openBench(null, { package: undefined, command: undefined });
    expect((await adapter.checkHealth()).detail).toMatch(/not installed with Bridge: npm install .*BRIDGE_CLAUDE_AGENT_SDK_PACKAGE/);
    expect(await run()).toMatchObject({ status: "error", errorCode: "adapter_offline", connection: "in-process" });
  });

  test("what is installed while Bridge runs is found by the next check", async () => {
    const directory = await temporaryDirectory();
    const { adapter, root } = await openBench(`${asks} ${loggedIn}`, { package: directory });
    expect(await adapter.checkHealth()).toMatchObject({ status: "offline" });
    cpSync(path.join(root, "sdk"), directory, { recursive: true });
    expect(await adapter.checkHealth()).toMatchObject({ status: "healthy" });
  });

  test("with the package alone it says that the program of the platform is missing", async () => {
    const { adapter } = await openBench(null, { command: undefined });
    expect((await adapter.checkHealth()).detail).toMatch(
      /9\.9\.9 is there without its program for this platform: npm install .*--include=optional/,
    );
  });

  test("the program of the platform is the one that npm put beside the package", async () => {
    const { adapter } = await openBench(`${asks} ${loggedIn}`, { command: undefined, beside: true });
    const detail = "in-process: @anthropic-ai/claude-agent-sdk 9.9.9 with Claude Code 2.1.328";
    expect(await adapter.checkHealth()).toMatchObject({
      status: "healthy",
      connection: "in-process",
      version: "9.9.9",
      preflight: [{ detail }, {}, {}, {}],
    });
  });

  test("a package of another make, and a program that lacks what keeps tasks within their rights, are not used", async () => {
    const other = await openBench(`${asks} ${loggedIn}`, { sdk: "export const ask = 1;" });
    expect(await other.adapter.checkHealth()).toMatchObject({ status: "offline", detail: expect.stringContaining("has no query()") });
    const old = await openBench('case "$1" in --version) echo "2.0.1 (Claude Code)";; --help) echo "--tools";; esac');
    expect(await old.adapter.checkHealth()).toMatchObject({
      status: "offline",
      detail: expect.stringContaining("claude 2.0.1 does not support --restricted"),
    });
  });
});

describe("a task", () => {
  test("has the result that was told, although the SDK throws after it", async () => {
    const { run } = await openBench(
      `${init}; ${say("Nearly.")}; ${result({ is_error: true, api_error_status: 429, result: "slow down" })}; exit 1`,
    );
    expect(await run()).toMatchObject({ status: "error", errorCode: "rate_limited", error: expect.stringContaining("slow down") });
  });

  test("keeps what it knows of messages that nobody knows yet", async () => {
    const strange = `echo '{"type":"hologram"}'; echo '{"type":"assistant"}'; echo no json; echo '{"type":"system","subtype":"new"}'`;
    const { run } = await openBench(`${init}; ${strange}; ${say("Hello.")}; ${result({ later: {} })}`);
    expect(await run()).toMatchObject({ status: "ok", output: "Hello.", model: "m", resumeToken: "s-1", connection: "in-process" });
  });

  test("whose program ends without a result has crashed, with the last words of it", async () => {
    const { run } = await openBench(`${init}; echo "out of memory" >&2; exit 9`);
    expect(await run()).toMatchObject({
      status: "error",
      errorCode: "runtime_crashed",
      error: "The program claude exited with code 9. out of memory",
    });
    const silent = await openBench(init);
    expect(await silent.run()).toMatchObject({
      status: "error",
      errorCode: "adapter_error",
      error: expect.stringContaining("without a result"),
    });
  });

  test("whose program does not start says so", async () => {
    const { run } = await openBench("", { interpreter: "#!/nowhere/sh" });
    expect(await run()).toMatchObject({ status: "error", errorCode: "spawn_failed" });
  });

  test("fails where the SDK fails before it starts anything", async () => {
    const { run } = await openBench("", {
      sdk: "export const query = () => ({ async *[Symbol.asyncIterator]() { throw new Error('Invalid option.'); } });",
    });
    expect(await run()).toMatchObject({
      status: "error",
      errorCode: "adapter_error",
      error: "The Claude Agent SDK ended without a result. Invalid option.",
    });
    const thrown = await openBench("", { sdk: "export const query = () => { throw new Error('Invalid option.'); };" });
    expect(await thrown.run()).toMatchObject({
      status: "error",
      errorCode: "adapter_error",
      error: expect.stringContaining("Invalid option."),
    });
  });

  test("that is stopped tells what it has cost, where its program still can", async () => {
    const spent = {
      model_usage_since_last_result: {
        m: { inputTokens: 1, outputTokens: 2, cacheReadInputTokens: 0, cacheCreationInputTokens: 0, costUSD: 0.5 },
      },
    };
    const listens = `while read -r line; do case "$line" in *interrupt*) ${result({ subtype: "error_during_execution", is_error: true, ...spent })};; esac; done`;
    const { start, adapter } = await openBench(`${init}; ${say("I wait.")}; ${listens}`);
    const task = start();
    await expect.poll(() => task.events.length, { interval: 5 }).toBe(1);
    await adapter.cancel(task.request.taskId);
    const { result: ended } = await task.done;
    expect(ended).toMatchObject({ status: "error", errorCode: "cancelled", output: "I wait.", costUsd: 0.5, usage: { outputTokens: 2 } });
  });

  test("that is stopped is gone, though its program does not listen", async () => {
    const { start, adapter } = await openBench(`${init}; ${say("I wait.")}; sleep 60 & wait`);
    const task = start();
    await expect.poll(() => task.events.length, { interval: 5 }).toBe(1);
    await adapter.cancel(task.request.taskId);
    expect((await task.done).result).toMatchObject({ status: "error", errorCode: "cancelled", output: "I wait." });
    expect(processesOf(task.request.taskId)).toEqual([]);
  });

  test("has a line that is too long for its end", async () => {
    const { run } = await openBench(`${init}; head -c 9000000 /dev/zero | tr '\\0' x; sleep 60`);
    expect(await run()).toMatchObject({ status: "error", errorCode: "output_limit" });
  });
});
