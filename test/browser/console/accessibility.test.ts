import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openChromium } from "../open-chromium.ts";
import { findAccessibilityViolations, openPage, scrollsSideways } from "./open-page.ts";
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

/** The pages, with a text that each shows after it has loaded: with data, and without; null if another page shows the same without data. */
const pages: readonly (readonly [path: string, full: string, empty: string | null])[] = [
  ["", "needs approval", "No tasks yet."],
  ["tasks", "draft-talk", "No tasks yet."],
  ["tasks?state=failed&search=x", "No task matches.", null],
  ["tasks?label=team%3Dshop", "unused-files", null],
  ["tasks/nightly-build", "Turn 2", "There is no such task."],
  ["tasks/unused-files", "needs approval", null],
  ["tasks/login-review", "Round 1", null],
  ["new", "What the dispatch would do", "What the dispatch would do"],
  ["new?from=login-review", "error-handling", null],
  ["approvals", "unused-files", "No tool call waits for a decision."],
  ["callbacks", "check-links", "No callback is dead."],
  ["callbacks?state=delivered", "release-notes", null],
  ["webhooks", "oncall", "Your tenant has no webhooks."],
  ["webhooks?name=oncall", "unused-files", null],
  ["adapters", "The program opencode is not installed.", "The program opencode is not installed."],
  ["usage", "auditor", "No task ended in this window."],
  ["usage?by=label&show=cost&window=365d", "team=shop", null],
  ["usage?by=day&window=30d", "local time", null],
  ["unknown", "The console has no such page.", null],
];
const themes = ["light", "dark"] as const;
const sizes = [
  { width: 1280, height: 800 },
  { width: 320, height: 640 },
];

/** Checks what the page shows in each theme and at each width. */
async function expectAccessible(page: Page, name: string): Promise<void> {
  const faults: string[] = [];
  for (const size of sizes) {
    await page.setViewportSize(size);
    if (await scrollsSideways(page)) faults.push(`scrolls sideways at ${size.width} px`);
    for (const colorScheme of themes) {
      await page.emulateMedia({ colorScheme });
      for (const violation of await findAccessibilityViolations(page)) faults.push(`${colorScheme}, ${size.width} px: ${violation}`);
    }
  }
  expect(faults, name).toEqual([]);
}

test("the sign-in has no accessibility violations, before and after a token was rejected", async () => {
  const { page } = await openPage(browser, `${bridge.url}/ui/`, { token: null });
  await page.getByLabel("Token").waitFor();
  await expectAccessible(page, "sign-in");
  await page.getByLabel("Token").fill("wrong");
  await page.keyboard.press("Enter");
  await page.getByRole("alert").waitFor();
  await expectAccessible(page, "rejected sign-in");
});

test.each(["full", "empty"] as const)(
  "no page of a tenant with %s data has accessibility violations or scrolls sideways",
  async (content) => {
    const token = content === "full" ? bridge.fullToken : bridge.emptyToken;
    const { page } = await openPage(browser, `${bridge.url}/ui/`, { token });
    for (const [path, full, empty] of pages) {
      const text = content === "full" ? full : empty;
      if (text === null) continue;
      await page.goto(`${bridge.url}/ui/${path}`);
      await page.locator("main").getByText(text).first().waitFor();
      await page.getByText("Loading …").waitFor({ state: "detached" });
      await expectAccessible(page, path);
    }
  },
);

test("an open tool call, an open finding and the list of keys have no accessibility violations", async () => {
  const { page } = await openPage(browser, `${bridge.url}/ui/tasks/nightly-build`, { token: bridge.fullToken });
  await page.locator("bridge-call summary").first().click();
  await page.getByRole("heading", { name: "Output" }).waitFor();
  await expectAccessible(page, "tool call");
  await page.goto(`${bridge.url}/ui/tasks/login-review`);
  await page.locator(".findings summary").first().click();
  await page.getByRole("heading", { name: "Evidence" }).first().waitFor();
  await expectAccessible(page, "finding");
  await page.keyboard.press("?");
  await page.getByRole("dialog").waitFor();
  await expectAccessible(page, "keys");
});
