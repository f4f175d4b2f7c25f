import { expect, test } from "vitest";
import { startBridgeApp } from "../../support/bridge-app.ts";
import { startBridgeProgram } from "../../support/bridge-program.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { scriptedCommand } from "./scripted-agent.ts";

const agents = (names: Record<string, unknown>) => ({ BRIDGE_ACP_AGENTS: JSON.stringify(names) });
const refusalOf = async (environment: Record<string, string>): Promise<string> =>
  startBridgeProgram(await temporaryDirectory(), environment).then(
    () => "it started",
    (error: Error) => error.message,
  );

test("Bridge runs tasks on an agent that is configured in BRIDGE_ACP_AGENTS", async () => {
  const bridge = await startBridgeApp(await temporaryDirectory(), {
    BRIDGE_ADAPTERS: "command,acp:my-agent",
    BRIDGE_MAX_CONCURRENT: "my-agent=1",
    ...agents({ "my-agent": scriptedCommand }),
  });
  const body = { agentId: "a", provider: "my-agent", message: "Say it back." };
  const answer = await bridge.call("POST", "/api/v2/dispatch", body, { prefer: "wait=15" });
  expect(await answer.json()).toMatchObject({
    provider: "my-agent",
    state: "completed",
    result: { output: "Say it back.", connection: "acp", resumeToken: expect.any(String) },
  });
  const { data } = (await (await bridge.call("GET", "/api/v2/adapters")).json()) as { data: object[] };
  expect(data[1]).toMatchObject({ provider: "my-agent", maxConcurrent: 1, capabilities: { sandboxing: false, approvals: true } });
});

test("Bridge reports an invalid agent name at startup", async () => {
  expect(await refusalOf({ BRIDGE_ADAPTERS: "acp:goose" })).toMatch(
    /exit 1.*BRIDGE_ADAPTERS: no command is configured for acp:goose; set BRIDGE_ACP_AGENTS/s,
  );
  const claude = { BRIDGE_ADAPTERS: "acp:claude", ...agents({ claude: scriptedCommand }) };
  expect(await refusalOf(claude)).toMatch(
    /exit 1.*BRIDGE_ADAPTERS: the name claude belongs to another adapter of Bridge; choose another one, for example my-claude/s,
  );
});

test("Bridge does not start when no adapter can be loaded", async () => {
  const message = await refusalOf({ BRIDGE_ADAPTERS: "./missing.ts,nonsense" });
  expect(message).toMatch(/exit 1.*BRIDGE_ADAPTERS: The adapter \.\/missing\.ts cannot be loaded.*BRIDGE_ADAPTERS: The adapter nonsense/s);
  expect(message).not.toContain("    at ");
});
