import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { escapeMentions } from "../../../adapters/gemini/escape-mentions.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

test("a mention of a workspace file is escaped, and other text is unchanged", async () => {
  const cwd = await temporaryDirectory();
  mkdirSync(path.join(cwd, "src"));
  writeFileSync(path.join(cwd, "my notes.txt"), "n");
  writeFileSync(path.join(cwd, ".env"), "s");
  const escaped = [
    "src",
    "src/a.ts",
    "src,",
    "src.",
    "./src",
    "../x",
    ".env",
    "my\\ notes.txt",
    '"my notes.txt"',
    `${cwd}/src`,
    `/x/../${cwd}/src`,
    // Other spellings of a path that Gemini accepts.
    ...["s\\rc", "other/../src", "/proc/self/cwd/src", "%73rc", "file:///src", '"x\nsrc"', "words:src", '""src', "'src'"],
    // Names of agents, which would make the model delegate the task.
    "generalist",
    "codebase_investigator:",
  ];
  const given = { searches: false };
  for (const mention of escaped) expect(escapeMentions(`See @${mention} and more`, cwd, given)).toBe(`See \\@${mention} and more`);
  for (const text of [
    "me@example.org.",
    "(@Override)",
    "@types/node-gyp",
    "@",
    "a @ b",
    "@, @)",
    "\\@src",
    "@other/file",
    "@été",
    "@/etc/passwd",
    "@/nowhere/at/all",
  ])
    expect(escapeMentions(text, cwd, given)).toBe(text);
  expect(escapeMentions("me@example.org and @ else", cwd, { searches: true })).toBe("me\\@example.org and @ else");
});
