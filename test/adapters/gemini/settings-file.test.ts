import { describe, expect, test } from "vitest";
import { buildSettingsFile } from "../../../adapters/gemini/settings-file.ts";
import { contextOf, server } from "./gemini-task.ts";

describe("the configuration", () => {
  test("the configuration disables telemetry, updates, hooks and loop detection, and limits retries and turns", () => {
    expect(buildSettingsFile(contextOf(), [])).toMatchObject({
      privacy: { usageStatisticsEnabled: false },
      telemetry: { enabled: false },
      general: { enableAutoUpdate: false, maxAttempts: 3 },
      model: { maxSessionTurns: expect.any(Number), disableLoopDetection: true },
      hooksConfig: { enabled: false },
    });
  });

  test.each([
    [{ GEMINI_API_KEY: "k", GOOGLE_GEMINI_BASE_URL: "http://gateway" }, "gemini-api-key"],
    [{ GOOGLE_GENAI_USE_VERTEXAI: "true" }, "vertex-ai"],
    [{ GOOGLE_GENAI_USE_GCA: "true" }, "oauth-personal"],
  ])("the configuration with %j uses the authentication type %s", (env, selectedType) => {
    expect(buildSettingsFile(contextOf({}, env), [])).toMatchObject({ security: { auth: { selectedType } } });
  });

  test("the configuration escapes dollar signs of MCP servers, which Gemini would expand", () => {
    const { mcpServers } = buildSettingsFile(contextOf(), [
      server,
      { name: "far", transport: "http", url: "https://h/$KEY", headers: { Authorization: "$KEY" } },
    ]);
    const literal = (text: string) => text.replaceAll("$", () => "$" + "{BRIDGE_UNSET:-$}");
    expect(mcpServers).toEqual({
      words: { command: "/bin/words", args: [literal("--key=$KEY")], env: { PASS: literal("a\\$b") }, trust: true, timeout: 120_000 },
      far: { type: "http", url: literal("https://h/$KEY"), headers: { Authorization: literal("$KEY") }, trust: true, timeout: 120_000 },
    });
  });
});
