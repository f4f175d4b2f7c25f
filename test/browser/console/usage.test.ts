import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { gzipSync } from "node:zlib";
import type { Browser, BrowserContextOptions } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Bridge, startBridge } from "../../support/start-bridge.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { openChromium } from "../open-chromium.ts";
import { type ConsolePage, expectQuiet, findAccessibilityViolations, openPage, scrollsSideways } from "./open-page.ts";

let browser: Browser;
let bridge: Bridge;
/** The day on which a task has ended, in the time zone of the browser. */
let endedOn: string;
const ends: (() => unknown)[] = [];
beforeAll(async () => {
  browser = await openChromium();
  const budgetsFile = path.join(await temporaryDirectory((act) => void ends.push(act)), "budgets.json");
  const budgets = [
    { name: "day", scope: { tenant: "alpha" }, per: "day", maxCostUsd: 50 },
    { name: "each", scope: { tenant: "alpha" }, per: "task", maxCostUsd: 5 },
  ];
  await writeFile(budgetsFile, JSON.stringify(budgets));
  bridge = await startBridge({ BRIDGE_BUDGETS_FILE: budgetsFile });
  const waited = { headers: { prefer: "wait=20" } };
  const { body } = await bridge.dispatch({ agentId: "writer", message: "look", labels: { team: "docs" } }, waited);
  endedOn = new Date(body.finishedAt).toLocaleDateString("sv");
  await bridge.dispatch({ agentId: "writer", message: "fail" }, waited);
  await bridge.dispatch({ agentId: "auditor", provider: "narrow" }, waited);
});
afterAll(async () => {
  await browser?.close();
  await bridge?.close();
  for (const act of ends) await act();
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
  expect(await rowOf(opened, "writer")).toEqual(["$0.25 + ?", "2", "1", "1", "0", "5 + ?", "2 + ?", "3 + ?", expect.any(String)]);
  expect(await rowOf(opened, "auditor")).toEqual(["?", "1", "1", "0", "0", "?", "?", "?", expect.any(String)]);
  await page.getByText("2 completed, 1 failed, 0 canceled").waitFor();
  await page.getByText("BRIDGE_MODEL_PRICES").waitFor();

  for (const [grouping, row] of [
    ["Adapter", "narrow"],
    ["Model", "small"],
    ["Label", "team=docs"],
    ["Day", endedOn],
  ] as const) {
    await page.getByRole("navigation", { name: "Group by" }).getByRole("link", { name: grouping, exact: true }).click();
    await page.getByRole("rowheader", { name: row, exact: true }).waitFor();
  }
  await page.getByRole("link", { name: "30 days" }).click();
  await page.getByRole("rowheader").first().waitFor();
  expect(Object.fromEntries(new URL(page.url()).searchParams)).toEqual({ window: "30d", by: "day", show: "cost" });
  await page.reload();
  await page.getByRole("link", { name: "30 days" }).and(page.locator("[aria-current]")).waitFor();
  expectQuiet(opened);
});

test("the chart is drawn for each measure, from files that only this page loads", async () => {
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
  for (const measure of ["Tokens", "Tasks"]) {
    await page.getByRole("navigation", { name: "Chart" }).getByRole("link", { name: measure, exact: true }).click();
    await nextImage();
  }
  expect(scripts.map((url) => /\/ui\/assets\/(.+)-[\w-]{8}\.js$/.exec(url)?.[1])).toEqual(["usage", "usage-chart"]);
  await page.emulateMedia({ colorScheme: "dark" });
  await nextImage();
  expectQuiet(opened);
});

test("a page whose code cannot be loaded offers to load the console again", async () => {
  const { page } = await open("");
  await page.route(/assets\/usage-[\w-]+\.js/, (route) => route.abort());
  await page.getByRole("link", { name: "Usage", exact: true }).click();
  await page.getByText("Bridge did not answer, or it was upgraded.").waitFor();
  await page.unroute(/assets\/usage-[\w-]+\.js/);
  await page.getByRole("button", { name: "Load again" }).click();
  await page.getByRole("heading", { name: "Usage", level: 1 }).waitFor();
  await page.getByRole("link", { name: "Overview", exact: true }).click();
  await page.getByRole("heading", { name: "Needs you" }).waitFor();
});

test("the cost of yesterday and its agents are two clicks away, and a day leads to its agents", async () => {
  const opened = await open("");
  const { page } = opened;
  const ranges: string[] = [];
  await page.route("**/api/v2/stats?*", async (route) => {
    const url = new URL(route.request().url());
    ranges.push(`${url.searchParams.get("from")} ${url.searchParams.get("to")}`);
    // The tasks of today ended yesterday, as far as the page knows.
    const day = new Date(new Date().setHours(0, 0, 0, 0) - 12 * 3_600_000);
    url.searchParams.set("from", new Date(day.setHours(0, 0, 0, 0)).toISOString());
    url.searchParams.delete("to");
    await route.fulfill({ response: await route.fetch({ url: url.href }) });
  });
  await page.getByRole("link", { name: "Usage", exact: true }).click();
  await page.getByRole("link", { name: "Yesterday" }).click();
  const midnight = new Date().setHours(0, 0, 0, 0);
  const before = new Date(new Date(midnight - 12 * 3_600_000).setHours(0, 0, 0, 0));
  await expect.poll(() => ranges).toContain(`${before.toISOString()} ${new Date(midnight).toISOString()}`);
  await expect.poll(async () => (await rowOf(opened, "writer"))[0]).toBe("$0.25 + ?");
  await page.getByText("local time").waitFor();
  await page.unroute("**/api/v2/stats?*");

  await page.getByRole("link", { name: "7 days" }).click();
  await page.getByRole("navigation", { name: "Group by" }).getByRole("link", { name: "Day" }).click();
  await page.getByRole("link", { name: endedOn, exact: true }).click();
  await page.getByRole("rowheader", { name: "writer" }).waitFor();
  expect(Object.fromEntries(new URL(page.url()).searchParams)).toEqual({ from: endedOn, to: endedOn, by: "agent", show: "cost" });
});

test("any range of days can be chosen, and a click on the bar of a day opens its agents", async () => {
  const { page } = await open("usage?window=7d");
  await page.getByText("Range", { exact: true }).click();
  await page.getByLabel("From").fill("2026-01-05");
  await page.getByLabel("To", { exact: true }).fill("2026-01-20");
  await page.getByRole("button", { name: "Show" }).click();
  await page.getByText("No task ended in this window.").waitFor();
  expect(await page.locator(".usage-figures dd:not(.detail)").allTextContents()).toEqual(["$0.00", "0", "0", "0"]);
  await page.getByText("Previous period: $0.00, 0 tasks.").waitFor();
  expect(await page.getByRole("link", { name: "Dispatch one" }).count()).toBe(0);
  expect(new URL(page.url()).search).toContain("from=2026-01-05&to=2026-01-20");
  await page.goto(`${bridge.url}/ui/usage?window=7d`);
  const chart = page.locator(".chart.clickable .u-over");
  await chart.waitFor();
  const { width, height } = (await chart.boundingBox()) ?? { width: 0, height: 0 };
  await chart.click({ position: { x: width - 2, y: height - 2 } });
  await page.getByRole("rowheader", { name: "writer" }).waitFor();
  expect(new URL(page.url()).searchParams.get("from")).toBe(endedOn);
});

test("the tile of today's cost opens a page with the same number, and with the cost in the chart", async () => {
  const { page } = await open("");
  await page.getByRole("link", { name: "$0.25 + ? Cost today" }).click();
  await page.getByRole("heading", { name: "Usage" }).waitFor();
  await page.getByRole("slider", { name: "Cost by hour" }).waitFor();
  await page.locator(".usage-figures").getByText("$0.25 + ?", { exact: true }).waitFor();
});

test("bars are stacked by agent, and the pointer and the keys show the time, the parts and the sum of a bar", async () => {
  const opened = await open("usage");
  const { page } = opened;
  const chart = page.getByRole("slider", { name: "Cost by hour" });
  await page.locator(".chart canvas").waitFor();
  expect(await page.locator(".legend").textContent()).toMatch(/■\s+writer\s+■\s+auditor/);
  await chart.focus();
  const tip = page.locator(".chart-tip");
  await tip.getByText("writer").waitFor();
  expect(await chart.getAttribute("aria-valuetext")).toMatch(/\d.*: sum \$0\.25 \+ \?, .*writer \$0\.25/);
  expect(await findAccessibilityViolations(page)).toEqual([]);
  await page.keyboard.press("Home");
  const hours = Number(await chart.getAttribute("aria-valuemax"));
  expect(await chart.getAttribute("aria-valuenow")).toBe("0");
  await page.keyboard.press("Escape");
  await expect.poll(() => tip.count()).toBe(0);
  const { x, y, width, height } = (await page.locator(".chart .u-over").boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
  await page.mouse.move(x + width - 3, y + height / 2);
  await tip.waitFor();
  expect(await chart.getAttribute("aria-valuenow")).toBe(String(hours));
  const box = await tip.boundingBox();
  expect((box?.x ?? -1) >= 0 && (box?.x ?? 0) + (box?.width ?? 0) <= 1280).toBe(true);
  await page.mouse.move(x, y - 100);
  await expect.poll(() => tip.count()).toBe(0);

  await page.getByRole("navigation", { name: "Group by" }).getByRole("link", { name: "Model" }).click();
  await page.locator(".legend").getByText("unknown model").waitFor();
  expectQuiet(opened);
});

test("each sum shows its change since the period before", async () => {
  const opened = await open("");
  const { page } = opened;
  const before: string[] = [];
  await page.route("**/api/v2/stats?*by=provider&limit=1*", async (route) => {
    const url = new URL(route.request().url());
    before.push(`${url.searchParams.get("from")} ${url.searchParams.get("to")}`);
    const response = await route.fetch();
    const body = await response.json();
    Object.assign(body.total, { tasks: 4, costUsd: 0.5, tasksWithoutCost: 0, inputTokens: 5, outputTokens: 0 });
    await route.fulfill({ response, json: body });
  });
  await page.getByRole("link", { name: "Usage", exact: true }).click();
  const figures = page.locator(".usage-figures");
  await figures.getByText("about −50 % vs yesterday").waitFor();
  await figures.getByText("−25 % vs yesterday", { exact: true }).waitFor();
  await figures.getByText("about no change vs yesterday").waitFor();
  await figures.getByText("none before").waitFor();
  await page.getByText("Compared with yesterday until the same hour.").waitFor();
  const midnight = new Date().setHours(0, 0, 0, 0);
  expect(before[0]).toMatch(new RegExp(`^${new Date(new Date(midnight - 1).setHours(0, 0, 0, 0)).toISOString()} .*Z$`));
  await page.getByRole("link", { name: "7 days" }).click();
  await figures.getByText("−25 % vs the 7 days before", { exact: true }).waitFor();
  expectQuiet(opened);
});

test("the headers of the table sort its rows, and the URL contains the order", async () => {
  const { page } = await open("usage");
  const names = () => page.getByRole("rowheader").allTextContents();
  await page.getByRole("columnheader", { name: "Cost" }).and(page.locator("[aria-sort=descending]")).waitFor();
  expect(await names()).toEqual(["writer", "auditor"]);
  for (const [header, direction, rows] of [
    ["Tasks", "descending", ["writer", "auditor"]],
    ["Tasks", "ascending", ["auditor", "writer"]],
    ["Agent", "ascending", ["auditor", "writer"]],
    ["Agent", "descending", ["writer", "auditor"]],
  ] as const) {
    await page.getByRole("columnheader", { name: header }).getByRole("link").click();
    await page.locator(`[aria-sort=${direction}]`).getByText(header).waitFor();
    expect(await names()).toEqual(rows);
  }
  expect(new URL(page.url()).search).toContain("sort=key&order=desc");
  await page.reload();
  await page.getByRole("columnheader", { name: "Agent" }).and(page.locator("[aria-sort=descending]")).waitFor();
  expect(await page.locator("[aria-sort]").count()).toBe(1);
});

test("on a phone all tabs are within the margin and in one row, and the ranges stay on the screen", async () => {
  for (const width of [390, 320]) {
    const { page } = await open("usage", { viewport: { width, height: 700 } });
    await page.locator(".usage-groups").waitFor();
    const edges = `JSON.stringify(["nav[aria-label=Range]", ".usage-groups"].map((nav) => {
      const boxes = [...document.querySelectorAll("main " + nav + " .tab")].map((tab) => tab.getBoundingClientRect());
      return [Math.min(...boxes.map(({ left }) => left)) >= document.querySelector("h1").getBoundingClientRect().left,
        new Set(boxes.map(({ top }) => top)).size, boxes.every(({ right }) => right <= innerWidth)];
    }))`;
    expect(JSON.parse(await page.evaluate(edges))).toEqual([
      [true, 1, true],
      [true, 1, true],
    ]);
    await page.locator(".range-picker summary").click();
    const panel = (await page.locator(".range-panel").boundingBox()) ?? { x: -1, width: 0 };
    expect([panel.x >= 0, panel.x + panel.width <= width]).toEqual([true, true]);
    expect(await scrollsSideways(page)).toBe(false);
  }
});

test("a narrow window shows one row of tabs before the first number", async () => {
  const { page } = await open("usage", { viewport: { width: 375, height: 700 } });
  await page.locator(".usage-figures").waitFor();
  const isOneRow = `(() => {
    const boxes = [...document.querySelectorAll("main nav .tab, main summary")].map((tab) => tab.getBoundingClientRect())
      .filter(({ top, height }) => height > 0 && top < document.querySelector(".usage-figures").getBoundingClientRect().top);
    return boxes.length > 3 && Math.max(...boxes.map(({ top }) => top)) < Math.min(...boxes.map(({ bottom }) => bottom));
  })()`;
  expect(await page.evaluate(isOneRow)).toBe(true);
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
    const names = [...page.matchAll(pattern)].map(([, name = ""]) => name);
    expect(names).not.toEqual([]);
    const files = names.map((name) => readFile(path.resolve(import.meta.dirname, "../../../packages/console/dist", name)));
    return gzipSync(Buffer.concat(await Promise.all(files))).length;
  };
  expect(await sizeOf(/"\.\/(assets\/[\w-]+\.js)"/g)).toBeLessThan(60_000);
  expect(await sizeOf(/"\.\/(assets\/[\w-]+\.css)"/g)).toBeLessThan(10_000);
});

test("the page shows how much of each budget is spent, without accessibility violations", async () => {
  const opened = await open("usage");
  const budgets = opened.page.getByRole("region", { name: "Budgets" });
  await budgets.getByText("within its maximum").waitFor();
  const text = (await budgets.textContent())?.replaceAll(/\s+/g, " ");
  expect(text).toContain("day within its maximum");
  expect(text).toContain("of $50.00");
  expect(text).toContain("each limits each task to $5.00");
  expect(await findAccessibilityViolations(opened.page)).toEqual([]);
});
