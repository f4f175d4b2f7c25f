import { writeFileSync } from "node:fs";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { AdapterHealthStatus } from "#contract";
import { createClaudeAdapter } from "../../../adapters/claude/index.ts";
import { createAdapterConfig } from "../../conformance/adapter-config.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

/** Returns the adapter's health with this shell script as `claude`; null for no program. */
async function healthWith(script: string | null, settings = {}): Promise<AdapterHealthStatus> {
  const directory = await temporaryDirectory();
  if (script !== null) writeFileSync(path.join(directory, "claude"), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  const adapter = createClaudeAdapter();
  onTestFinished(() => adapter.shutdown());
  const env = { PATH: directory, HOME: path.join(directory, "operator") };
  await adapter.initialize(createAdapterConfig(directory, { settings, env }));
  return await adapter.checkHealth();
}

const flags = "--restricted --setting-sources --settings --strict-mcp-config --permission-prompts --system-prompt-snapshot --tools";
const known = `case "$1" in --version) echo "2.1.328 (Claude Code)";; --help) echo "${flags}";;`;
const loggedIn = 'auth) echo \'{"loggedIn":true,"authMethod":"api_key","apiProvider":"firstParty"}\';; esac';

test("health without any program names what to install for each connection", async () => {
  const health = await healthWith(null);
  expect(health).toMatchObject({ status: "offline", connection: null });
  expect(health.preflight.map(({ ok }) => ok)).toEqual([false, false, false]);
  expect(health.detail).toMatch(/api: Set ANTHROPIC_API_KEY/);
  expect(health.detail).toMatch(/npm install -g @agentclientprotocol\/claude-agent-acp.*BRIDGE_CLAUDE_ACP_COMMAND/);
  expect(health.detail).toMatch(/npm install -g @anthropic-ai\/claude-code.*BRIDGE_CLAUDE_COMMAND/);
});

test("the adapter is healthy over cli with only claude installed", async () => {
  expect(await healthWith(`${known} ${loggedIn}`)).toMatchObject({ status: "healthy", connection: "cli", version: "2.1.328" });
});

test("a version that lacks required flags is not used, and health names the flags", async () => {
  const health = await healthWith('case "$1" in --version) echo "2.0.1 (Claude Code)";; --help) echo "--setting-sources --tools";; esac');
  expect(health.status).toBe("offline");
  expect(health.detail).toContain("claude 2.0.1 does not support --restricted, --settings, --strict-mcp-config, --permission-prompts");
});

test("health checks the login in the home that tasks use", async () => {
  const homes = `${known} auth) case "$HOME" in */operator) in=true;; *) in=false;; esac; echo "{\\"loggedIn\\":$in,\\"authMethod\\":\\"oauth\\",\\"apiProvider\\":\\"firstParty\\"}";; esac`;
  expect(await healthWith(homes, { home: "user" })).toMatchObject({ status: "healthy" });
  const detail = "not logged in: set ANTHROPIC_API_KEY, or BRIDGE_CLAUDE_HOME=user to use your own login";
  expect(await healthWith(homes, { home: "agent" })).toMatchObject({ status: "degraded", connection: "cli", detail });
});

test("the adapter is degraded when the program does not report its login", async () => {
  const health = await healthWith(`${known} *) echo "What?"; exit 2;; esac`);
  expect(health).toMatchObject({ status: "degraded", detail: expect.stringContaining("printed no valid status: What?") });
});
