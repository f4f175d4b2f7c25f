import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { type Bridge, startBridge } from "../../support/start-bridge.ts";
import { startReceiver } from "../../support/start-receiver.ts";
import { askUntil } from "../../support/until.ts";
import { openChromium } from "../open-chromium.ts";
import { type ConsolePage, expectQuiet, findAccessibilityViolations, openPage, scrollsSideways } from "./open-page.ts";

let browser: Browser;
let bridge: Bridge;
let isBroken = true;
let receiver: Awaited<ReturnType<typeof startReceiver>>;
beforeAll(async () => {
  browser = await openChromium();
  bridge = await startBridge();
  receiver = await startReceiver((response) => {
    if (isBroken) response.writeHead(500).end('<img src=x onerror="document.title=1"> \u202egnorw');
    else response.writeHead(200).end("thanks");
  });
});
afterAll(async () => {
  await browser?.close();
  await bridge?.close();
  await receiver?.close();
});

const open = (path: string): Promise<ConsolePage> => openPage(browser, `${bridge.url}/ui/${path}`, { token: "secret-alpha" });

const dispatchDead = async (taskId: string, callbackUrl = receiver.origin) => {
  await bridge.dispatch({ taskId, message: "done", callbackUrl });
  await askUntil(
    () => bridge.call("GET", `/api/v2/tasks/${taskId}`),
    ({ body }) => body.callback?.state === "dead",
  );
};

test("the page of a task shows each attempt of its callback, and the response as text", async () => {
  isBroken = true;
  await dispatchDead("tried");
  const opened = await open("tasks/tried");
  const { page } = opened;
  const attempts = page.getByRole("region", { name: "Callback attempts" });
  const row = attempts.getByRole("listitem");
  await row.getByText("HTTP 500").waitFor();
  await row.getByText("Response").click();
  await row.getByText('<img src=x onerror="document.title=1"> ⟨U+202E⟩gnorw').waitFor();
  expect(await row.locator("img").count()).toBe(0);
  expect(await findAccessibilityViolations(page)).toEqual([]);
  isBroken = false;
  await page.getByRole("button", { name: "Redeliver the callback" }).click();
  await attempts.getByText("HTTP 200").waitFor();
  expect(await row.allInnerTexts()).toEqual([expect.stringMatching(/^2\b.*delivered/s), expect.stringMatching(/^1\b.*http_500/s)]);
  await page.setViewportSize({ width: 320, height: 640 });
  expect(await scrollsSideways(page)).toBe(false);
  expectQuiet(opened);
});

test("the page of a running task shows the URL of its callback", async () => {
  await bridge.dispatch({ taskId: "awaiting", message: "wait", callbackUrl: receiver.origin });
  const opened = await open("tasks/awaiting");
  const fact = opened.page.locator("dl.facts > div", { hasText: receiver.origin });
  await fact.getByText("starts when the task ends").waitFor();
  expect(await fact.textContent()).toContain("pending");
  await bridge.call("POST", "/api/v2/tasks/awaiting/cancel");
  await fact.getByText("1 attempt").waitFor();
  expectQuiet(opened);
});

test("all dead callbacks of a receiver are redelivered after a confirmation of their number", async () => {
  isBroken = true;
  for (const taskId of ["many-1", "many-2", "many-3"]) await dispatchDead(taskId);
  isBroken = false;
  const opened = await open("callbacks");
  const { page } = opened;
  const button = page.getByRole("button", { name: `Redeliver all dead to ${receiver.origin}` });
  await button.click();
  await page.getByText(`Redeliver 3 callbacks to ${receiver.origin}?`).waitFor();
  expect(await findAccessibilityViolations(page)).toEqual([]);
  await page.getByRole("button", { name: "No" }).click();
  const before = receiver.posts.length;
  await button.click();
  await page.getByRole("button", { name: "Yes, redeliver" }).click();
  await page.getByText(`Redelivery of 3 callbacks to ${receiver.origin}: 3 delivered.`).waitFor();
  await page.getByText("No callback is dead.").waitFor();
  await expect.poll(() => receiver.posts.length).toBe(before + 3);
  expectQuiet(opened);
});

test("one button redelivers the dead callbacks of all receivers, after a question", async () => {
  isBroken = true;
  const other = await startReceiver((response) => response.writeHead(isBroken ? 500 : 204).end());
  onTestFinished(() => other.close());
  await dispatchDead("first-origin");
  await dispatchDead("second-origin", other.origin);
  const opened = await open("callbacks");
  const { page } = opened;
  await page.getByRole("button", { name: "Redeliver all", exact: true }).click();
  await page.getByText("Redeliver all dead callbacks to 2 receivers?").waitFor();
  isBroken = false;
  await page.getByRole("button", { name: "Yes, redeliver" }).click();
  await page.getByText(/Redelivery of (\d+) callbacks to all receivers: \1 delivered\./).waitFor();
  await page.getByText("No callback is dead.").waitFor();
  await page.getByRole("link", { name: "Dispatch one" }).waitFor();
  expectQuiet(opened);
});

test("redelivering to all receivers reaches one whose dead callbacks are beyond the first page, and the outcome can be closed", async () => {
  isBroken = true;
  const other = await startReceiver((response) => response.writeHead(isBroken ? 500 : 204).end());
  onTestFinished(() => other.close());
  await dispatchDead("oldest", other.origin);
  const ids = Array.from({ length: 201 }, (_, index) => `page-${index}`);
  await Promise.all(ids.map((taskId) => bridge.dispatch({ taskId, message: "done", callbackUrl: receiver.origin })));
  await askUntil(
    () => bridge.call("GET", "/api/v2/callbacks?state=pending"),
    ({ body }) => body.data.length === 0,
  );
  const { page } = await open("callbacks");
  await page.getByRole("button", { name: "Redeliver all", exact: true }).click();
  await page.getByText("Redeliver all dead callbacks to all receivers?").waitFor();
  isBroken = false;
  const before = other.posts.length;
  await page.getByRole("button", { name: "Yes, redeliver" }).click();
  await page.getByText("Redelivery of 202 callbacks to all receivers: 202 delivered.").waitFor();
  expect(other.posts.length).toBe(before + 1);
  await page.getByRole("button", { name: "Close the message" }).click();
  expect(await page.getByText(/Redelivery of/).count()).toBe(0);
});
