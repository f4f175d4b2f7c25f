import type { Browser, BrowserContextOptions } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createInMemoryAdapter } from "../../adapters/in-memory-adapter.ts";
import { type Bridge, startBridge } from "../../support/start-bridge.ts";
import { openChromium } from "../open-chromium.ts";
import { type ConsolePage, expectQuiet, openPage } from "./open-page.ts";

/** More than the console lists at once. */
const COUNT = 203;
const HOSTILE_TOOL = "delete\u202etxt.exe<img src=x>";

/** An agent that asks for a tool call. Its input is long if the message is. */
const asking = createInMemoryAdapter({
  provider: "asking",
  async run({ taskId, message }, _emit, _signal, requestApproval) {
    const input = { path: message.startsWith("Long") ? "x".repeat(250_000) : `\u202e${message}` };
    const { decision } = await requestApproval({ taskId, toolCallId: "call-1", toolName: HOSTILE_TOOL, input });
    return { output: decision };
  },
});

let browser: Browser;
let bridge: Bridge;
beforeAll(async () => {
  browser = await openChromium();
  bridge = await startBridge({ BRIDGE_MAX_CONCURRENT: "300" }, { adapters: [{ provider: "asking", adapter: asking }] });
});
afterAll(async () => {
  await browser?.close();
  await bridge?.close();
});

const open = (path: string, token: "alpha" | "beta", options: BrowserContextOptions = {}): Promise<ConsolePage> =>
  openPage(browser, `${bridge.url}/ui/${path}`, { ...options, token: `secret-${token}` });

test("of very many approvals, the oldest are shown first, and a decision makes room for the next one", async () => {
  for (let number = 0; number < COUNT; number += 1)
    await bridge.dispatch({ provider: "asking", taskId: `many-${number}`, message: `Task ${number}` });
  const opened = await open("approvals", "alpha");
  const { page } = opened;
  await page.getByRole("heading", { name: "200+ waiting" }).waitFor();
  const first = page.locator(".approval").first();
  await first.getByRole("link", { name: "Task 0 · many-0" }).waitFor();
  expect(await page.title()).toBe("(200+) Approvals · Bridge");
  await page.getByText("These are the oldest.").waitFor();

  for (const number of [0, 1, 2]) {
    await page.keyboard.press("j");
    await page.keyboard.press("a");
    await page.keyboard.press("a");
    const card = page.locator(".approval").filter({ has: page.getByRole("link", { name: `· many-${number}`, exact: false }) });
    await card.first().getByText("approved").first().waitFor();
  }
  await page.getByRole("heading", { name: "200 waiting" }).waitFor();
  await page.getByRole("link", { name: "· many-202" }).waitFor();

  // The last ten decided approvals and the selected one keep their place.
  const { body } = await bridge.call("GET", "/api/v2/approvals?state=pending&order=oldest&limit=20");
  for (const { approvalId } of body.data.slice(0, 12))
    await bridge.call("POST", `/api/v2/approvals/${approvalId}`, { body: { decision: "reject" } });
  await page.getByRole("heading", { name: "188 waiting" }).waitFor();
  await expect.poll(() => page.locator(".approval").count()).toBe(188 + 10 + 1);
  expect(await page.locator(".approval").filter({ hasText: "many-2" }).first().isVisible()).toBe(true);
  expectQuiet(opened);
});

test("approvals with long inputs are all listed, although a page of them ends early", async () => {
  for (let number = 0; number < 9; number += 1)
    await bridge.dispatch({ provider: "asking", taskId: `long-${number}`, message: `Long ${number}` }, { token: "beta" });
  const { page } = await open("approvals", "beta");
  await page.getByRole("heading", { name: "9 waiting" }).waitFor();
  await page.getByRole("link", { name: "Long 0 · long-0" }).waitFor();
  await page.getByRole("link", { name: "Long 8 · long-8" }).waitFor();
});

test("the overview shows the name and the input of a hostile tool as text with visible hidden characters", async () => {
  const opened = await open("", "alpha");
  const { page } = opened;
  const needs = page.getByRole("region", { name: "Needs you" });
  await needs.getByText("delete⟨U+202E⟩txt.exe<img src=x>").first().waitFor();
  await needs.getByText("⟨U+202E⟩Task").first().waitFor();
  expect(await page.locator("main img").count()).toBe(0);
  expectQuiet(opened);
});

test("the overview counts the open tasks of the tenant only", async () => {
  const { page } = await open("", "beta");
  await page.getByRole("link", { name: "9 Running" }).waitFor();
});
