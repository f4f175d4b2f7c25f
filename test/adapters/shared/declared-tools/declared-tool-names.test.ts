import { expect, test } from "vitest";
import { createDeclaredToolMatcher } from "../../../../adapters/shared/declared-tools/declared-tool-names.ts";

const isDeclared = createDeclaredToolMatcher("bridge", ["ask_user", "a__b"]);

test.each([
  "mcp__bridge__ask_user",
  "mcp_bridge_ask_user",
  "bridge_ask_user",
  "bridge__ask_user",
  "bridge.ask_user",
  "mcp.bridge.ask_user",
  "mcp:bridge:ask_user",
  "ask_user (bridge MCP Server)",
  "mcp__bridge__a__b",
])("%s is a declared tool", (name) => {
  expect(isDeclared(name)).toBe(true);
});

test.each([
  "ask_user",
  "mcp__bridge__other",
  "mcp__bridge_2__ask_user",
  "mcp__words__ask_user",
  "xbridge_ask_user",
  "bridge/ask_user",
  "rm -rf / # bridge_ask_user",
  "bridge_ask_user; rm -rf /",
  "rm -rf / && ask_user (bridge MCP Server)",
  "",
])("%s is not a declared tool", (name) => {
  expect(isDeclared(name)).toBe(false);
});

test("the tools of a server with another name are not declared tools", () => {
  expect(["bridge_2_t", "bridge_t"].map(createDeclaredToolMatcher("bridge_2", ["t"]))).toEqual([true, false]);
});
