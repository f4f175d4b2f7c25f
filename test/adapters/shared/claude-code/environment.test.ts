import { describe, expect, test } from "vitest";
import { programSettingsSchema } from "../../../../adapters/shared/agent-program/settings.ts";
import { createClaudeEnvironment } from "../../../../adapters/shared/claude-code/environment.ts";

describe("the environment", () => {
  const environment = (home: "agent" | "user", env: Record<string, string>) => {
    return createClaudeEnvironment({ settings: programSettingsSchema.parse({ home, env: ["MINE"] }), env });
  };

  test("the environment contains the credentials and the variables that the operator names, and nothing else of Bridge's environment", () => {
    const given = environment("agent", { ANTHROPIC_API_KEY: "k", MINE: "m", BRIDGE_TOKENS: "secret", CLAUDE_CONFIG_DIR: "/mine" });
    expect(given).toMatchObject({ ANTHROPIC_API_KEY: "k", MINE: "m" });
    expect(Object.keys(given)).not.toContain("BRIDGE_TOKENS");
    expect(Object.keys(given)).not.toContain("CLAUDE_CONFIG_DIR");
  });

  test("the environment contains the credentials of a cloud only if that cloud is selected", () => {
    const clouds = { AWS_SECRET_ACCESS_KEY: "s", GOOGLE_APPLICATION_CREDENTIALS: "/g.json" };
    const opened = (choice: Record<string, string>) =>
      Object.keys(clouds).filter((name) => name in environment("agent", { ...clouds, ...choice }));
    expect(opened({})).toEqual([]);
    expect(opened({ CLAUDE_CODE_USE_BEDROCK: "1" })).toEqual(["AWS_SECRET_ACCESS_KEY"]);
    expect(opened({ CLAUDE_CODE_USE_VERTEX: "1" })).toEqual(["GOOGLE_APPLICATION_CREDENTIALS"]);
  });

  test("the environment disables `@path`, tool search and background tasks", () => {
    expect(environment("agent", {})).toMatchObject({
      CLAUDE_CODE_DISABLE_ATTACHMENTS: "1",
      CLAUDE_CODE_DISABLE_BACKGROUND_TASKS: "1",
      ENABLE_TOOL_SEARCH: "false",
    });
  });

  test("limits retries, unless the operator sets their number", () => {
    expect(environment("agent", {})["CLAUDE_CODE_MAX_RETRIES"]).toBe("4");
    expect(environment("agent", { CLAUDE_CODE_MAX_RETRIES: "9" })["CLAUDE_CODE_MAX_RETRIES"]).toBe("9");
  });

  test("the environment names the operator's configuration only if tasks use the operator's home", () =>
    expect(environment("user", { CLAUDE_CONFIG_DIR: "/mine" })["CLAUDE_CONFIG_DIR"]).toBe("/mine"));
});
