import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Bridge, startBridge } from "../../support/start-bridge.ts";
import { openChromium, openContext } from "../open-chromium.ts";
import { openPage } from "./open-page.ts";

let browser: Browser;
let bridge: Bridge;
beforeAll(async () => {
  browser = await openChromium();
  bridge = await startBridge();
});
afterAll(async () => {
  await browser?.close();
  await bridge?.close();
});

/** Number of open event streams. */
async function countStreams(): Promise<number> {
  const { text } = await bridge.call("GET", "/metrics");
  return Number(/^bridge_sse_clients (\d+)$/m.exec(text)?.[1]);
}

/** Dispatches a task, and waits until the page shows its end. Snapshots cannot show it, because the page cannot load the list. */
async function expectLive(page: Page, taskId: string): Promise<void> {
  await bridge.dispatch({ taskId, agentId: "shared", message: "wait" });
  const row = page.getByRole("row").filter({ has: page.getByRole("link", { name: taskId }) });
  await row.getByText("running").waitFor();
  const isList = ({ pathname }: URL): boolean => pathname.endsWith("/api/v2/tasks");
  await page.route(isList, (route) => route.abort());
  await bridge.call("POST", `/api/v2/tasks/${taskId}/cancel`);
  await row.getByText("canceled").waitFor();
  await page.unroute(isList);
}

test("tabs with the same token share one stream, and another tab continues it when the first one closes", async () => {
  const { page: first } = await openPage(browser, `${bridge.url}/ui/tasks?agentId=shared`, { token: "secret-alpha" });
  await expect.poll(countStreams).toBe(1);
  const second = await first.context().newPage();
  await second.goto(`${bridge.url}/ui/tasks?agentId=shared`);
  await second.getByRole("heading", { name: "Tasks" }).waitFor();
  await expectLive(second, "by-the-first");
  expect(await countStreams()).toBe(1);
  await first.close();
  await expectLive(second, "by-the-second");
  await expect.poll(countStreams).toBe(1);
  await second.context().close();
});

test("tabs with different tokens share nothing", async () => {
  const { page: alpha } = await openPage(browser, `${bridge.url}/ui/tasks`, { token: "secret-alpha" });
  const context = alpha.context();
  await alpha.getByRole("heading", { name: "Tasks" }).waitFor();
  const beta = await context.newPage();
  await beta.addInitScript(`sessionStorage.setItem("bridge.token", "secret-beta")`);
  await beta.goto(`${bridge.url}/ui/tasks`);
  await beta.getByText("No tasks yet.").waitFor();
  await bridge.dispatch({ taskId: "only-alpha", message: "done" });
  await alpha.getByRole("link", { name: "only-alpha" }).waitFor();
  await beta.getByText("No tasks yet.").waitFor();
  await expect.poll(countStreams).toBe(2);
  await context.close();
});

test("a page that is hidden for a minute closes its stream, and continues when it is visible", async () => {
  const context = await openContext(browser);
  const page = await context.newPage();
  await page.clock.install();
  await page.addInitScript(`
    sessionStorage.setItem("bridge.token", "secret-alpha");
    globalThis.isHidden = false;
    Object.defineProperty(document, "hidden", { get: () => globalThis.isHidden });
  `);
  const setHidden = (isHidden: boolean): Promise<unknown> =>
    page.evaluate(`globalThis.isHidden = ${isHidden}; void document.dispatchEvent(new Event("visibilitychange"));`);
  await expect.poll(countStreams).toBe(0);
  await page.goto(`${bridge.url}/ui/tasks?agentId=shared`);
  await expect.poll(countStreams).toBe(1);
  await setHidden(true);
  await page.clock.fastForward(61_000);
  await expect.poll(countStreams).toBe(0);
  await setHidden(false);
  await expect.poll(countStreams).toBe(1);
  await context.close();
});
