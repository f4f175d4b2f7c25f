import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type BridgeProgram, startBridgeProgram } from "../support/bridge-program.ts";
import { type Browser, startBrowser } from "./start-browser.ts";

let browser: Browser;
let bridge: BridgeProgram;
const cleanup = new AsyncDisposableStack();
beforeAll(async () => {
  const dataDir = await mkdtemp(path.join(tmpdir(), "bridge-docs-"));
  cleanup.defer(() => rm(dataDir, { recursive: true, force: true }));
  bridge = await startBridgeProgram(dataDir, { BRIDGE_DATA_DIR: dataDir }, (kill) => cleanup.defer(kill));
  browser = await startBrowser();
  cleanup.defer(() => browser.close());
});
afterAll(() => cleanup.disposeAsync());

test("the page /docs authorizes and sends its example dispatch, and Bridge accepts it", async () => {
  const { page } = browser;
  const requests: string[] = [];
  const errors: string[] = [];
  page.on("request", (request) => requests.push(request.url()));
  page.on("pageerror", (error) => errors.push(error.message));
  page.on("console", (message) => message.type() === "error" && errors.push(`${message.text()} ${message.location().url}`));
  await page.goto(`${bridge.url}/docs`);
  await page.waitForSelector(".opblock-tag");

  expect(await page.title()).toBe("Bridge API");
  expect(await page.$$(".topbar")).toEqual([]);
  const tags = await page.$$eval(".opblock-tag", (elements) => elements.map((element) => element.getAttribute("data-tag")));
  expect(tags).toEqual(expect.arrayContaining(["tasks", "events", "operations"]));
  expect(tags).not.toContain("default");

  await page.click(".btn.authorize");
  const dataDir = String(bridge.log[0]?.["dataDir"]);
  await page.fill(".auth-container input", (await readFile(path.join(dataDir, "token"), "utf8")).trim());
  await page.click(".auth-btn-wrapper .authorize");
  await page.click(".auth-btn-wrapper .btn-done");

  await page.click("#operations-tasks-dispatchTask .opblock-summary-control");
  await page.click("#operations-tasks-dispatchTask .try-out__btn");
  await page.click("#operations-tasks-dispatchTask .execute");
  const status = await page.waitForSelector("#operations-tasks-dispatchTask .live-responses-table tbody .response-col_status");
  expect(await status.textContent()).toMatch(/^202/);

  const outside = requests.filter((url) => !url.startsWith(`${bridge.url}/`) && !url.startsWith("data:"));
  expect(outside).toEqual([]);
  expect(errors).toEqual([]);
});
