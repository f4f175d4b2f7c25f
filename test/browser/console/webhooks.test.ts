import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Bridge, startBridge } from "../../support/start-bridge.ts";
import { startReceiver } from "../../support/start-receiver.ts";
import { openChromium } from "../open-chromium.ts";
import { type ConsolePage, expectQuiet, openPage } from "./open-page.ts";

let browser: Browser;
let bridge: Bridge;
let isBroken = true;
const cleanup = new AsyncDisposableStack();
beforeAll(async () => {
  const directory = await mkdtemp(path.join(tmpdir(), "bridge-webhooks-"));
  cleanup.defer(() => rm(directory, { recursive: true, force: true }));
  const receiver = await startReceiver((response) => response.writeHead(isBroken ? 500 : 204).end());
  cleanup.defer(() => receiver.close());
  const secrets = [`whsec_${Buffer.alloc(32, 7).toString("base64")}`];
  const file = path.join(directory, "webhooks.json");
  const oncall = {
    name: "oncall",
    url: receiver.origin,
    tenant: "alpha",
    secrets,
    types: ["execution.failed"],
    filter: { agentId: "writer" },
  };
  await writeFile(file, JSON.stringify([oncall]));
  bridge = await startBridge({ BRIDGE_WEBHOOKS_FILE: file, BRIDGE_PUBLIC_URL: "https://bridge.example" });
  cleanup.defer(() => bridge.close());
  browser = await openChromium();
  cleanup.defer(() => browser.close());
  await bridge.dispatch({ taskId: "failed-1", message: "fail" });
});
afterAll(() => cleanup.disposeAsync());

const open = (target: string, token = "secret-alpha"): Promise<ConsolePage> => openPage(browser, `${bridge.url}/ui/${target}`, { token });

test("a token without the scope sees a dead delivery, but no button", async () => {
  const { page } = await open("webhooks?name=oncall", "secret-reader");
  await page.getByRole("row").filter({ hasText: "failed-1" }).getByText("HTTP 500").waitFor();
  expect(await page.getByRole("button", { name: /Redeliver/ }).count()).toBe(0);
});

test("a dead delivery is found from the overview and redelivered by keyboard alone", async () => {
  const opened = await open("");
  const { page } = opened;
  await page.getByText("1 dead delivery").first().waitFor();
  await page.getByRole("link", { name: "Webhooks 1" }).waitFor();
  await page.getByRole("link", { name: "oncall" }).press("Enter");
  const webhook = page.getByRole("listitem").filter({ hasText: "agent=writer" });
  for (const text of ["execution.failed", "0 pending", "1 dead"]) await webhook.getByText(text).waitFor();
  await webhook.getByText(/Last delivery .*: dead, 1 attempt, HTTP 500/).waitFor();
  await page.locator(".webhook.selected").getByText("oncall").waitFor();
  const delivery = page.locator("tr.delivery").filter({ has: page.getByRole("link", { name: "failed-1" }) });
  await delivery.getByText("HTTP 500").waitFor();
  await page.getByRole("link", { name: "dead 1", exact: true }).waitFor();
  expect(await page.getByRole("columnheader").allTextContents()).toEqual(["State", "Event", "Task", "Result", "Attempts", "When"]);

  isBroken = false;
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "execution.failed", exact: true, expanded: true }).waitFor();
  await page.locator(".delivery-facts").getByText("http_500").waitFor();
  await page.getByRole("link", { name: "Open the events of the task" }).waitFor();
  await page.getByRole("button", { name: "Redeliver execution.failed of failed-1" }).press("Enter");
  await page.getByText("Redelivery of 1 delivery to oncall: 1 delivered.").waitFor();
  await page.getByText("No delivery is dead.").waitFor();
  await page.getByRole("link", { name: "delivered" }).click();
  await delivery.getByText("HTTP 204").waitFor();
  expect(await delivery.locator(".attempts").textContent()).toBe("2");
  await page.getByRole("link", { name: "Webhooks", exact: true }).waitFor();
  expectQuiet(opened);
});

test("all dead deliveries of a webhook are redelivered after a confirmation of their number", async () => {
  isBroken = true;
  for (const taskId of ["failed-2", "failed-3"]) await bridge.dispatch({ taskId, message: "fail" });
  const opened = await open("webhooks");
  const { page } = opened;
  await page.getByRole("heading", { name: "Deliveries to oncall" }).waitFor();
  await page.getByText("2 dead").waitFor();
  isBroken = false;
  await page.getByRole("button", { name: "Redeliver all dead" }).click();
  await page.getByText("Redeliver 2 deliveries to oncall?").waitFor();
  await page.getByRole("button", { name: "Yes, redeliver" }).click();
  await page.getByText("Redelivery of 2 deliveries to oncall: 2 delivered.").waitFor();
  await page.getByText("No delivery is dead.").waitFor();
  expectQuiet(opened);
});

test("an unknown webhook is reported, and a tenant without webhooks sees how to add one and nothing of others", async () => {
  const { page } = await open("webhooks?name=unknown");
  await page.getByRole("region", { name: "Deliveries to unknown" }).getByRole("alert").waitFor();

  const empty = await open("webhooks", "secret-beta");
  await empty.page.getByText("BRIDGE_WEBHOOKS_FILE").waitFor();
  expect(await empty.page.getByText("oncall", { exact: true }).count()).toBe(0);
  expectQuiet(empty);
});
