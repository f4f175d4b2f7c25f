import type { Browser, BrowserContextOptions } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openChromium } from "../open-chromium.ts";
import { type ConsolePage, expectQuiet, openPage } from "./open-page.ts";
import { type ScriptedBridge, startScriptedBridge } from "./scripted-bridge.ts";

let browser: Browser;
let bridge: ScriptedBridge;
beforeAll(async () => {
  browser = await openChromium();
  bridge = await startScriptedBridge();
});
afterAll(async () => {
  await browser?.close();
  await bridge?.close();
});

const open = (path: string, options: BrowserContextOptions = {}): Promise<ConsolePage> =>
  openPage(browser, `${bridge.url}/ui/${path}`, { ...options, token: bridge.fullToken });
const ids = (query: string): Promise<string[]> =>
  fetch(`${bridge.url}/api/v2/tasks?${query}`, { headers: { authorization: `Bearer ${bridge.fullToken}` } })
    .then((response) => response.json() as Promise<{ data: { taskId: string }[] }>)
    .then(({ data }) => data.map(({ taskId }) => taskId));

test("the answers of a council are listed below it after a click on their number, and hidden again", async () => {
  const opened = await open("tasks");
  const { page } = opened;
  const council = page.locator('[data-task="login-review"]');
  const button = council.getByRole("button", { name: /8 answers of Review pull request 482/ });
  await button.waitFor();
  expect(await page.locator(".visible > [data-task]").count()).toBe((await ids("root=*")).length);
  await button.click();
  const children = page.locator(".visible > .child");
  await expect.poll(() => children.count()).toBe(8);
  expect(await button.getAttribute("aria-expanded")).toBe("true");
  // The first answer is directly below the council.
  const [index, first] = await Promise.all([council.getAttribute("data-index"), children.first().getAttribute("data-index")]);
  expect(Number(first)).toBe(Number(index) + 1);
  expect(await children.first().getAttribute("data-task")).toBe((await ids("parentTaskId=login-review")).at(-1));
  // A child task is named by its role, and its title is the tooltip.
  expect(await children.first().locator(".title").textContent()).toMatch(/^\w.* · round 1$/);
  expect(await children.first().locator(".name > a").getAttribute("title")).toMatch(/^You are /);
  await button.click();
  await expect.poll(() => children.count()).toBe(0);
  expectQuiet(opened);
});

test("a filter in the URL and a search list child tasks as separate rows, which name their parent", async () => {
  const all = await open("tasks?children=all");
  await expect.poll(() => all.page.locator(".visible > [data-task]").count()).toBe((await ids("limit=100")).length);
  const [child = ""] = await ids("parentTaskId=login-review");
  const { page } = await open("tasks");
  await page.getByRole("searchbox").fill(child);
  const row = page.locator(`[data-task="${child}"]`);
  await row.getByRole("link", { name: "of login-review" }).click();
  await page.getByRole("heading", { name: /Review pull request 482/ }).waitFor();
});

test("a list without a match offers to search child tasks", async () => {
  const { page } = await open("tasks?provider=claude&state=completed&label=team%3Dnone");
  await page.getByText("No task matches.").waitFor();
  await page.getByRole("link", { name: "Search child tasks, too" }).click();
  await expect.poll(() => new URL(page.url()).searchParams.get("children")).toBe("all");
});

test.each([1280, 1000, 800])("no id and no duration is cut in a window of %i px, and the filters stay in one row", async (width) => {
  const { page } = await open("tasks?children=all", { viewport: { width, height: 800 } });
  await page.locator('[data-task="nightly-build"]').waitFor();
  const cut = `[...document.querySelectorAll(".visible > .task-row > :is(.duration, .id, .started, .cost, .state, .delivery)")]
    .filter((cell) => cell.clientWidth > 0 && cell.scrollWidth > cell.clientWidth).map((cell) => cell.textContent)`;
  expect(await page.evaluate(cut)).toEqual([]);
  // An id in the cell of the title is visible as a whole, or not at all.
  const parts = `[...document.querySelectorAll(".visible .own-id")].filter((id) => {
    const [own, link] = [id.getBoundingClientRect(), id.closest("a").getBoundingClientRect()];
    return own.width > 1 && own.top < link.bottom && own.right > link.right + 1;
  }).length`;
  expect(await page.evaluate(parts)).toBe(0);
  const tops = `new Set([...document.querySelectorAll(".task-filters > *")].filter((part) => part.clientHeight > 0)
    .map((part) => Math.round(part.getBoundingClientRect().top + part.getBoundingClientRect().height / 2))).size`;
  await page.getByRole("link", { name: "Clear" }).waitFor();
  expect(await page.evaluate(tops)).toBe(1);
});

test("a long id keeps the column, is shown shortened, and is copied as a whole", async () => {
  const { page } = await open("tasks?children=all", { viewport: { width: 1280, height: 800 } });
  const [child = ""] = await ids("parentTaskId=login-review");
  const cell = page.locator(`[data-task="${child}"] > .id`);
  await cell.waitFor();
  expect(await cell.getAttribute("title")).toBe(child);
  const selected = `(getSelection().selectAllChildren(document.querySelector('[data-task="${child}"] > .id')), String(getSelection()))`;
  expect(await page.evaluate(selected)).toBe(child);
});

test("tabs of views count what waits for a person", async () => {
  const { page } = await open("tasks");
  const views = page.getByRole("navigation", { name: "Views" });
  await views.getByRole("link", { name: "Needs approval 1" }).waitFor();
  await views.getByRole("link", { name: "Dead callbacks 1" }).waitFor();
});

test("a click between the links of a row opens its task, and a click on its box does not", async () => {
  const { page } = await open("tasks");
  await page.locator('[data-task="settings-page"] .duration').click();
  await page.getByRole("heading", { name: /Translate the settings page/ }).waitFor();
  await page.goBack();
  const label = page.locator('[data-task="settings-page"] .select label');
  expect(await label.boundingBox()).toMatchObject({ width: 24, height: 24 });
  await label.click();
  await page.getByRole("button", { name: "Cancel 1 task" }).waitFor();
  await page.goto(`${bridge.url}/ui/`);
  const row = page.getByRole("region", { name: "Latest ended" }).getByRole("listitem").filter({ hasText: "check-links" });
  await row.locator("time").click();
  await page.getByRole("heading", { name: /Check all links/ }).waitFor();
});

test("failed today: the figure, its view, the tab and the API count the same tasks", async () => {
  const { page } = await open("");
  const today = new Date().setHours(0, 0, 0, 0);
  const failed = await ids(`state=failed&root=*&finishedAfter=${new Date(today).toISOString()}`);
  await page.getByRole("link", { name: `${failed.length} Failed today` }).click();
  await page.getByRole("link", { name: "Failed today" }).and(page.locator("[aria-current]")).waitFor();
  expect(new URL(page.url()).search).toBe("?finished=today&state=failed");
  await expect.poll(() => page.locator(".visible > [data-task]").count()).toBe(failed.length);
});

test("j and k move through the rows of the overview, and the help lists the keys of the page", async () => {
  const { page } = await open("");
  await page
    .getByRole("region", { name: "Latest ended" })
    .getByRole("link", { name: /Summarize/ })
    .waitFor();
  const links = `[...document.querySelectorAll(".board .what > a")]`;
  const focused = `${links}.indexOf(document.activeElement)`;
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  expect(await page.evaluate(focused)).toBe(1);
  await page.keyboard.press("k");
  expect(await page.evaluate(focused)).toBe(0);
  const count = Number(await page.evaluate(`${links}.length`));
  for (let index = 0; index < count; index += 1) await page.keyboard.press("j");
  expect(await page.evaluate(focused)).toBe(count - 1);
  await page.keyboard.press("?");
  expect(await page.locator("dialog.help dt").allTextContents()).toEqual(["Ctrl-K", "j, k", "Enter", "?"]);
  await page.keyboard.press("?");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: /Summarize the failed tests/ }).waitFor();
});

test("ages and titles of the overview stand below each other", async () => {
  const { page } = await open("", { viewport: { width: 1280, height: 800 } });
  await page
    .getByRole("region", { name: "Latest ended" })
    .getByRole("link", { name: /Summarize/ })
    .waitFor();
  const edges = (selector: string, edge: string) =>
    page.evaluate(
      `[...new Set([...document.querySelectorAll(${JSON.stringify(selector)})].map((part) => Math.round(part.getBoundingClientRect().${edge})))]`,
    );
  expect(await edges(".board > li > time", "right")).toHaveLength(1);
  expect(await edges(".board .what", "left")).toHaveLength(1);
  expect(await edges(".board > li > .badge", "left")).toHaveLength(1);
  await page
    .getByRole("region", { name: "Needs you" })
    .getByText(/Auto-rejects in \d/)
    .waitFor();
  await page.getByText(/^Times in \w+/).waitFor();
});

test.each([320, 390])("at %i px, one row holds the navigation, whose menu has the summed badge and works with keys", async (width) => {
  const { page } = await open("", { viewport: { width, height: 700 } });
  const button = page.getByRole("button", { name: /^Pages/ });
  await button.getByText("5", { exact: false }).waitFor();
  const height = `document.querySelector("header.shell").getBoundingClientRect().height`;
  expect(Number(await page.evaluate(height))).toBeLessThan(60);
  expect((await button.boundingBox())?.x ?? width).toBeLessThan(width - 40);
  const approvals = page.getByRole("link", { name: "Approvals 1" });
  expect(await approvals.isVisible()).toBe(false);
  await button.press("Enter");
  await approvals.waitFor();
  expect(await button.getAttribute("aria-expanded")).toBe("true");
  await page.keyboard.press("Escape");
  await approvals.waitFor({ state: "hidden" });
  expect(await page.evaluate(`document.activeElement.matches("button.pages")`)).toBe(true);
  await button.click();
  await approvals.click();
  await page.getByRole("heading", { name: "Approvals" }).waitFor();
  expect(await button.getAttribute("aria-expanded")).toBe("false");
  // No tile of the overview stands alone.
  await page.goto(`${bridge.url}/ui/`);
  await page.getByText("Cost today").waitFor();
  const rows = `Object.values(Object.groupBy([...document.querySelectorAll(".figures > li")], (tile) => tile.offsetTop)).map(({ length }) => length)`;
  expect(await page.evaluate(rows)).toEqual([3, 2]);
});

test("a name that is too long for the command menu ends with an ellipsis", async () => {
  const { page } = await open("", { viewport: { width: 320, height: 700 } });
  await page.getByRole("heading", { name: "Overview" }).waitFor();
  await page.keyboard.press("Control+k");
  await page.keyboard.type("upgrade");
  const name = page.getByRole("option", { name: /Upgrade to TypeScript/ }).locator(".choice-name");
  await name.waitFor();
  const isCut = `(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)(document.querySelectorAll(".command-menu .choice-name")[0])`;
  expect(await page.evaluate(isCut)).toBe(true);
  // Only a block shows the ellipsis.
  const overflow = `(({ display, textOverflow }) => [display, textOverflow])(getComputedStyle(document.querySelectorAll(".command-menu .choice-name")[0]))`;
  expect(await page.evaluate(overflow)).toEqual(["block", "ellipsis"]);
});
