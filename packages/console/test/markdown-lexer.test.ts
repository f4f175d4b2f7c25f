import { expect, test, vi } from "vitest";
import { lexMarkdown, MAX_CHARACTERS } from "../src/markdown-lexer.ts";

const contentOf = async (markdown: string): Promise<string> => JSON.stringify(await lexMarkdown(markdown));

test("a text is read up to its maximum length, and up to its maximum number of lines", async () => {
  const longest = "a".repeat(MAX_CHARACTERS);
  expect(await contentOf(longest)).toContain("paragraph");
  expect(await lexMarkdown(`${longest}a`)).toBeNull();
  expect(await contentOf("a\n".repeat(1000))).toContain("paragraph");
  expect(await lexMarkdown("a\n".repeat(2000))).toBeNull();
});

test.each([
  ["quotes", (depth: number) => `${">".repeat(depth)} a`],
  ["lists", (depth: number) => `${"- ".repeat(depth)}a`],
  ["indented lists", (depth: number) => Array.from({ length: depth }, (_, level) => `${"  ".repeat(level)}- a`).join("\n")],
])("nested %s are read up to a depth", async (_, nest) => {
  expect(await contentOf(nest(10))).toContain('"text":"a"');
  expect(await lexMarkdown(nest(100))).toBeNull();
});

test("a table that would have many empty cells is not read", async () => {
  const table = (columns: number, rows: number) => `${"|a".repeat(columns)}|\n${"|-".repeat(columns)}|\n${"|b|\n".repeat(rows)}`;
  expect(await contentOf(table(20, 20))).toContain('"type":"table"');
  expect(await lexMarkdown(table(1000, 1000))).toBeNull();
});

test.each([
  ["very long", "*a* ".repeat(10) + "b".repeat(3000)],
  ["full of delimiters", "*a* ".repeat(200)],
])("a paragraph that is %s stays text, and the others are read", async (_, paragraph) => {
  const tokens = await lexMarkdown(`${paragraph}\n\n*b*`);
  expect(tokens?.[0]).toMatchObject({ tokens: [{ type: "text" }] });
  expect(tokens?.at(-1)).toMatchObject({ tokens: [{ type: "em" }] });
});

test("the page can respond after each paragraph", async () => {
  const pause = vi.fn(async () => {});
  await lexMarkdown("a\n\nb\n\nc", pause);
  expect(pause).toHaveBeenCalledTimes(3);
});

const parts = [
  ...["[", "![](", "[a](b", "<a", "`", "*a_", "**a*", "~~a", "&#", "<!--", "```\n", "- ", "> ", "> - ", "> a\nb\n"],
  ...["|a|\n|-|\n", "[a]: b\n", "1. a\n   - b\n", "\u202e", "\0", "\r", "\ud800"],
];
test.each(parts)("a text that repeats %j is read or rejected without an error", async (part) => {
  const tokens = await lexMarkdown(part.repeat(MAX_CHARACTERS / part.length));
  expect(tokens === null || Array.isArray(tokens)).toBe(true);
});
