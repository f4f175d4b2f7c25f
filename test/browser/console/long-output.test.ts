import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ConsoleBench, startConsole } from "./open-console.ts";
import { expectQuiet, scrollsSideways } from "./open-page.ts";

/** What the agent repeats, without a line break. */
const HOSTILE = `<img src=x onerror=alert(1)><script>alert(2)</script>\u202e\u001b[31m![a](https://a.example/b)[c](javascript:alert(3))`;
/** The longest line that Bridge reads from a program is 8 MiB. */
const OUTPUT = HOSTILE.repeat(Math.floor((8 * 1024 ** 2 - 1) / Buffer.byteLength(HOSTILE)));
/** Maximum number of rendered characters: parts of the message, of the output and of its events. */
const MAX_RENDERED = 100_000;

let bench: ConsoleBench;
beforeAll(async () => {
  bench = await startConsole(`console.log(${JSON.stringify(HOSTILE)}.repeat(${OUTPUT.length / HOSTILE.length}))`);
});
afterAll(() => bench?.close());

test("a hostile output of 8 MiB in one line is shown as text in parts, and can be saved as a whole", async () => {
  await bench.call("POST", "/api/v2/dispatch", { taskId: "long-1", agentId: "writer", message: "Write." });
  const opened = await bench.open("tasks/long-1");
  const { page } = opened;
  await page.getByRole("heading", { name: /completed/ }).waitFor();
  const result = page.getByRole("region", { name: "Result" });
  await result.getByRole("button", { name: /Show more \(\d+(\.\d)? MiB left\)/ }).waitFor();
  await page.getByRole("region", { name: "Timeline" }).getByText("The answer, which is shown as the result.").waitFor();
  const countCharacters = async (): Promise<number> => Number(await page.evaluate("document.querySelector('main').textContent.length"));
  expect(await countCharacters()).toBeLessThan(MAX_RENDERED);

  const before = await countCharacters();
  await result.getByRole("button", { name: /Show more/ }).click();
  await expect.poll(countCharacters).toBeGreaterThan(before + 50_000);
  const downloading = page.waitForEvent("download");
  await result.getByRole("button", { name: "Save the whole text" }).click();
  const saved = await readFile(await (await downloading).path(), "utf8");
  expect(saved.trimEnd() === OUTPUT).toBe(true);

  // Such a text is too long for Markdown.
  expect(await page.locator("main img, main script, main .markdown, main a[href^=javascript]").count()).toBe(0);
  expect(await scrollsSideways(page)).toBe(false);
  expectQuiet(opened);
});
