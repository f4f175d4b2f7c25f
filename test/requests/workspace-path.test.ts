import { expect, test } from "vitest";
import { readListedPath, readWritablePath } from "../../src/requests/workspace-path.ts";

test.each([
  "a",
  "a.md",
  "in/data.csv",
  "...",
  "..a",
  "a..",
  ".hidden",
  "ü #1%.txt",
  "sub/SOUL.md",
  "sub/agent.json",
  "gitignore",
  ".gitignore",
  ".github/x",
  "x".repeat(255),
])("%s may be written", (path) => {
  expect(readWritablePath(path)).toEqual({ names: path.split("/") });
});

test.each([
  ["", "names"],
  ["/", "relative"],
  ["/etc/passwd", "relative"],
  ["//a", "relative"],
  ["..", "names"],
  ["../a", "names"],
  ["a/../../b", "names"],
  ["a/..", "names"],
  [".", "names"],
  ["./a", "names"],
  ["a//b", "names"],
  ["a/", "names"],
  ["a\0b", "control"],
  ["a\nb", "control"],
  ["a\u0085b", "control"],
  ["\ud800", "surrogate"],
  ["x".repeat(256), "255"],
  ["ü".repeat(128), "255"],
  [`${"a/".repeat(64)}a`, "64 names"],
  [`${"abcdefghi/".repeat(50).repeat(9)}a`, "4096"],
  [".git", ".git"],
  [".git/hooks/pre-commit", ".git"],
  ["sub/.git/config", ".git"],
  [".GIT/config", ".git"],
  [".Git ", ".git"],
  [".git./config", ".git"],
  [".g\u200cit/config", ".git"],
  ["git~1/config", ".git"],
  ["．git/config", ".git"],
  ["node_modules/x/index.js", "node_modules"],
  ["sub/Node_Modules/.bin/tsc", "node_modules"],
  ["SOUL.md", "SOUL.md"],
  ["soul.MD", "SOUL.md"],
  ["AGENTS.md", "AGENTS.md"],
  ["TOOLS.md", "TOOLS.md"],
  ["agent.json", "agent.json"],
  ["Agent.JSON", "agent.json"],
  ["agent.json/x", "agent.json"],
])("%j may not be written, and the message contains the reason", (path, reason) => {
  expect(readWritablePath(path)).toEqual({ fault: expect.stringContaining(reason) });
});

test("every writable path can be listed and served", () => {
  for (const path of ["a", "in/data.csv", ".hidden", "sub/SOUL.md"]) expect(readListedPath(path)).toEqual(path.split("/"));
  for (const path of ["", "../a", "a//b", "a\0b", ".git/config", "node_modules/x"]) expect(readListedPath(path)).toBeNull();
});
