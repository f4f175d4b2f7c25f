import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Bridge, startBridge } from "../../support/start-bridge.ts";
import { startReceiver } from "../../support/start-receiver.ts";
import { openChromium } from "../open-chromium.ts";
import { type ConsolePage, expectQuiet, openPage } from "./open-page.ts";

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

const open = (path: string, token = "secret-alpha"): Promise<ConsolePage> => openPage(browser, `${bridge.url}/ui/${path}`, { token });

test("the overview shows what runs and since when, and which tasks have failed today", async () => {
  await bridge.dispatch({ taskId: "runs-1", message: "work" });
  await bridge.dispatch({ taskId: "fails-1", message: "fail" }, { headers: { prefer: "wait=20" } });
  const opened = await open("");
  const { page } = opened;
  const running = page.getByRole("region", { name: "Running now" }).getByRole("listitem").filter({ hasText: "runs-1" });
  await running.getByText(/for \d/).waitFor();
  await running.getByText(/last event/).waitFor();
  await page.getByRole("link", { name: "1 Failed today" }).waitFor();
  await page.getByRole("region", { name: "Needs you" }).getByRole("listitem").filter({ hasText: "fails-1" }).waitFor();
  expectQuiet(opened);
});

test("a failure is acknowledged, for everybody, with the name of the person", async () => {
  await bridge.dispatch({ taskId: "known-1", message: "fail", labels: { team: "web" } }, { headers: { prefer: "wait=20" } });
  const opened = await open("");
  const { page } = opened;
  const needed = page.getByRole("region", { name: "Needs you" });
  const row = needed.getByRole("listitem").filter({ hasText: "known-1" });
  await row.waitFor();
  expect(await needed.getByRole("button", { name: "Acknowledged faults" }).count()).toBe(0);
  await row.getByRole("button", { name: "Acknowledge fail" }).click();
  await row.waitFor({ state: "detached" });
  await needed.getByRole("button", { name: "Acknowledged faults" }).click();
  await needed.getByRole("list", { name: "Acknowledged faults" }).getByText("acknowledged by alpha").waitFor();
  const other = await open("", "secret-reader");
  await other.page.getByRole("region", { name: "Needs you" }).getByText("Acknowledged faults").waitFor();
  expect(await other.page.getByRole("region", { name: "Needs you" }).getByText("known-1").count()).toBe(0);
  expect(await other.page.getByRole("button", { name: /^Acknowledge / }).count()).toBe(0);
  expectQuiet(opened);
});

test("all dead callbacks of a receiver are sent again from the overview, and a new fault brings an acknowledged one back", async () => {
  let isBroken = true;
  const receiver = await startReceiver((response) => response.writeHead(isBroken ? 500 : 204).end());
  for (const taskId of ["dead-1", "dead-2"])
    await bridge.dispatch({ taskId, message: "done", callbackUrl: receiver.origin }, { headers: { prefer: "wait=20" } });
  const opened = await open("");
  const { page } = opened;
  const row = page.getByRole("region", { name: "Needs you" }).getByRole("listitem").filter({ hasText: receiver.origin });
  await row.getByText("2 dead callbacks").waitFor();
  await row.getByRole("button", { name: `Acknowledge ${receiver.origin}` }).click();
  await row.waitFor({ state: "detached" });

  await bridge.call("POST", "/api/v2/callbacks/dead-1/redeliver");
  await row.getByText("1 dead callback").waitFor();
  await row.getByRole("button", { name: "Redeliver all" }).click();
  await row.getByRole("button", { name: "Yes, redeliver" }).click();
  const outcome = page.getByText(`Redelivery of 2 callbacks to ${receiver.origin}:`);
  await outcome.filter({ hasText: "2 still failing." }).waitFor();
  await page.getByRole("button", { name: "Close the message" }).click();
  await outcome.waitFor({ state: "detached" });
  isBroken = false;
  await row.getByRole("button", { name: "Redeliver all" }).click();
  await row.getByRole("button", { name: "Yes, redeliver" }).click();
  await row.waitFor({ state: "detached" });
  await outcome.filter({ hasText: "2 delivered." }).waitFor();
  await expect.poll(async () => (await bridge.call("GET", "/api/v2/callbacks/dead-1")).body.state).toBe("delivered");
  await receiver.close();
  expectQuiet(opened);
});

test("an approval of the overview shows how long it still waits, with emphasis in the last minute", async () => {
  await bridge.dispatch({ taskId: "expires-1", message: "ask" });
  const { page } = await open("");
  const deadline = page.getByRole("region", { name: "Needs you" }).locator(".deadline");
  await deadline.getByText(/Auto-rejects in \d+ (min|h)/).waitFor();
  expect(await page.locator(".deadline.urgent").count()).toBe(0);
  await page.route("**/api/v2/approvals?*", async (route) => {
    const response = await route.fetch();
    const json = await response.json();
    for (const approval of json.data) approval.expiresAt = new Date(Date.now() + 50_000).toISOString();
    await route.fulfill({ response, json });
  });
  await page
    .locator(".deadline.urgent")
    .getByText(/Auto-rejects in \d+ s/)
    .waitFor();
  await page.getByRole("link", { name: /^Decide about / }).click();
  await page.getByRole("heading", { name: "Approvals" }).waitFor();
  await bridge.call("POST", "/api/v2/tasks/expires-1/cancel");
});

test("the command menu opens a page, and finds a task by its id", async () => {
  await bridge.dispatch({ taskId: "build-77", message: "Build the site." }, { headers: { prefer: "wait=20" } });
  const opened = await open("");
  const { page } = opened;
  await page.getByRole("heading", { name: "Overview" }).waitFor();
  await page.keyboard.press("Control+k");
  await page.keyboard.type("usage");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Usage" }).waitFor();
  await page.getByRole("button", { name: "Search" }).click();
  await page.keyboard.type("build-77");
  await page.getByRole("option", { name: /Build the site/ }).click();
  await page.getByRole("heading", { name: /Build the site.*completed/ }).waitFor();
  expectQuiet(opened);
});
