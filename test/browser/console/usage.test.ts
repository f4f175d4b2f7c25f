import { readFile } from "node:fs/promises";
import path from "node:path";
import { gzipSync } from "node:zlib";
import type { Browser, BrowserContextOptions } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Bridge, startBridge } from "../../support/start-bridge.ts";
import { openChromium } from "../open-chromium.ts";
import { type ConsolePage, expectQuiet, openPage } from "./open-page.ts";

let browser: Browser;
let bridge: Bridge;
/** The day on which a task has ended, in UTC. */
let endedOn: string;
beforeAll(async () => {
  browser = await openChromium();
  bridge = await startBridge();
  const waited = { headers: { prefer: "wait=20" } };
  const { body } = await bridge.dispatch({ agentId: "writer", message: "look", labels: { team: "docs" } }, waited);
  endedOn = body.finishedAt.slice(0, 10);
  await bridge.dispatch({ agentId: "writer", message: "fail" }, waited);
  await bridge.dispatch({ agentId: "auditor", provider: "narrow" }, waited);
});
afterAll(async () => {
  await browser?.close();
  await bridge?.close();
});

const open = (
  target: string,
  { token = "secret-alpha", ...options }: BrowserContextOptions & { token?: string } = {},
): Promise<ConsolePage> => openPage(browser, `${bridge.url}/ui/${target}`, { ...options, token });

/** The numbers of a row, by its name. */
const rowOf = async ({ page }: ConsolePage, name: string): Promise<string[]> =>
  page
    .getByRole("row")
    .filter({ has: page.getByRole("rowheader", { name, exact: true }) })
    .getByRole("cell")
    .allTextContents();

/** What the chart shows, as the URL of an image; null before it is drawn. */
const readChart = ({ page }: ConsolePage): Promise<unknown> =>
  page.evaluate('document.querySelector(".chart canvas")?.toDataURL() ?? null');

test("the page shows cost, tokens and tasks by each grouping, an unknown cost as a question mark, and how to set a price", async () => {
  const opened = await open("usage");
  const { page } = opened;
  await page.getByRole("rowheader", { name: "writer" }).waitFor();
  expect(await rowOf(opened, "writer")).toEqual(["2", "1", "1", "0", "5 + ?", "2 + ?", "3 + ?", expect.any(String), "$0.25 + ?"]);
  expect(await rowOf(opened, "auditor")).toEqual(["1", "1", "0", "0", "?", "?", "?", expect.any(String), "?"]);
  await page.getByText("3: 2 completed, 1 failed, 0 canceled").waitFor();
  await page.getByText("BRIDGE_MODEL_PRICES").waitFor();

  for (const [grouping, row] of [
    ["Adapter", "narrow"],
    ["Model", "small"],
    ["Label", "team=docs"],
    ["Day (UTC)", endedOn],
  ] as const) {
    await page.getByRole("link", { name: grouping, exact: true }).click();
    await page.getByRole("rowheader", { name: row, exact: true }).waitFor();
  }
  await page.getByRole("link", { name: "30d" }).click();
  await page.getByRole("rowheader").first().waitFor();
  expect(Object.fromEntries(new URL(page.url()).searchParams)).toEqual({ window: "30d", by: "day", show: "tasks" });
  await page.reload();
  await page.getByRole("link", { name: "30d" }).and(page.locator("[aria-current]")).waitFor();
  expectQuiet(opened);
});

test("the chart is drawn for each measure, from a file that only this page loads", async () => {
  const opened = await open("");
  const { page } = opened;
  const scripts: string[] = [];
  page.on("request", (request) => {
    if (request.url().endsWith(".js")) scripts.push(request.url());
  });
  await page.getByRole("link", { name: /Cost today/ }).waitFor();
  expect(scripts).toEqual([]);
  await page.getByRole("link", { name: "Usage", exact: true }).click();
  const images = new Set<unknown>([null]);
  const nextImage = async (): Promise<void> => {
    await expect.poll(async () => images.has(await readChart(opened))).toBe(false);
    images.add(await readChart(opened));
  };
  await nextImage();
  for (const measure of ["cost", "tokens"]) {
    await page.getByRole("link", { name: measure, exact: true }).click();
    await nextImage();
  }
  expect(scripts).toEqual([expect.stringMatching(/\/ui\/assets\/usage-chart-[\w-]+\.js$/)]);
  await page.emulateMedia({ colorScheme: "dark" });
  await nextImage();
  expectQuiet(opened);
});

test("the keys j and k move through the rows, and a row leads to its tasks", async () => {
  const { page } = await open("usage");
  await page.getByRole("rowheader", { name: "writer" }).waitFor();
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await page.keyboard.press("k");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Tasks" }).waitFor();
  expect(new URL(page.url()).search).toBe("?agentId=writer");
});

test("the overview shows how many tasks have ended today and their cost", async () => {
  const opened = await open("");
  const { page } = opened;
  await page.getByRole("link", { name: "3 Ended today" }).waitFor();
  await page.getByRole("link", { name: "$0.25 + ? Cost today" }).waitFor();
  expectQuiet(opened);
});

test("a tenant without tasks sees an empty page and nothing of others", async () => {
  const opened = await open("usage", { token: "secret-beta" });
  await opened.page.getByText("No task ended in this window.").waitFor();
  expect(await opened.page.getByText("writer").count()).toBe(0);
  expectQuiet(opened);
});

test("the first load has at most 60 kB of scripts and 10 kB of styles, compressed", async () => {
  const page = await (await fetch(`${bridge.url}/ui/`)).text();
  const sizeOf = async (pattern: RegExp): Promise<number> => {
    const [, name = ""] = pattern.exec(page) ?? [];
    return gzipSync(await readFile(path.resolve(import.meta.dirname, "../../../web/dist", name))).length;
  };
  expect(await sizeOf(/src="\.\/(assets\/console-\w+\.js)"/)).toBeLessThan(60_000);
  expect(await sizeOf(/href="\.\/(assets\/console-\w+\.css)"/)).toBeLessThan(10_000);
});
