import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";

const packages = path.resolve(import.meta.dirname, "../..");

const read = (name: string): { file: string; text: string }[] =>
  ["package.json", ...readdirSync(path.join(packages, name, "src")).map((file) => path.join("src", file))].map((file) => ({
    file,
    text: readFileSync(path.join(packages, name, file), "utf8"),
  }));

const filesWith = (name: string, word: RegExp): string[] =>
  read(name)
    .filter(({ text }) => word.test(text))
    .map(({ file }) => file);

test("the core names no model vendor and has no network access", () => {
  expect(read("responder-bridge").length).toBeGreaterThan(10);
  expect(filesWith("responder-bridge", /openai|gpt/i)).toEqual([]);
  expect(filesWith("responder-bridge", /\bfetch\b|undici|node:(net|http|https|http2|tls|dgram|dns)\b|WebSocket/)).toEqual([]);
  expect(filesWith("responder-bridge", /aiwf/i)).toEqual([]);
});

test("only the preset names FlowMark", () => {
  expect(filesWith("responder-bridge", /flowmark/i).toSorted()).toEqual(["src/flowmark-tool.ts", "src/index.ts"]);
});

test("the provider uses neither tools nor files", () => {
  expect(read("responder-bridge-openai").length).toBeGreaterThan(5);
  expect(filesWith("responder-bridge-openai", /flowmark|aiwf|node:fs|child_process|execa/i)).toEqual([]);
});
