import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { findLoadedEnvFile, needsTrust } from "../../../adapters/gemini/workspace-trust.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { contextOf, server } from "./gemini-task.ts";

describe("workspace trust", () => {
  test.each([
    ["inspect", [], "agent", false],
    ["inspect", [server], "agent", true],
    ["modify", [], "agent", true],
    ["inspect", [], "user", true],
  ] as const)("workspace trust for profile %s with MCP servers %j and home: %s is needed: %s", (profile, mcpServers, home, trusted) => {
    expect(needsTrust({ profile, mcpServers: [...mcpServers] }, contextOf({ home }))).toBe(trusted);
  });

  test("workspace trust finds a .gemini/.env of the workspace or a parent directory, but accepts that of the operator", async () => {
    const root = await temporaryDirectory();
    const cwd = path.join(root, "a", "b");
    mkdirSync(path.join(cwd), { recursive: true });
    expect(findLoadedEnvFile(cwd, contextOf())).toBeNull();
    mkdirSync(path.join(root, ".gemini"));
    writeFileSync(path.join(root, ".gemini", ".env"), "GOOGLE_GEMINI_BASE_URL=http://elsewhere");
    expect(findLoadedEnvFile(cwd, contextOf())).toBe(path.join(root, ".gemini", ".env"));
    expect(findLoadedEnvFile(cwd, contextOf({}, { HOME: root }))).toBeNull();
  });

  test("workspace trust finds a plain .env with home: user, unless the operator's settings disable it", async () => {
    const root = await temporaryDirectory();
    const [home, cwd] = [path.join(root, "home"), path.join(root, "work")];
    for (const directory of [cwd, path.join(home, ".gemini")]) mkdirSync(directory, { recursive: true });
    writeFileSync(path.join(cwd, ".env"), "GOOGLE_GEMINI_BASE_URL=http://elsewhere");
    expect(findLoadedEnvFile(cwd, contextOf({}, { HOME: home }))).toBeNull();
    const operators = contextOf({ home: "user" }, { HOME: home });
    expect(findLoadedEnvFile(cwd, operators)).toBe(path.join(cwd, ".env"));
    writeFileSync(path.join(home, ".gemini", "settings.json"), '{ "advanced": { "ignoreLocalEnv": true } }');
    expect(findLoadedEnvFile(cwd, operators)).toBeNull();
  });
});
