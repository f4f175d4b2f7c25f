import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openChromium } from "../open-chromium.ts";
import { expectQuiet, openPage } from "./open-page.ts";
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

test("a council is dispatched with fields, without JSON and without a message", async () => {
  const opened = await openPage(browser, `${bridge.url}/ui/new`, { token: bridge.fullToken });
  const { page } = opened;
  await page.getByRole("option", { name: "bridge-claude" }).waitFor({ state: "attached" });
  await page.getByLabel("Adapter").selectOption("bridge-claude");
  await page.getByLabel("Task", { exact: true }).fill("Review the sign-in.");
  expect(await page.getByLabel("Message").count()).toBe(0);
  await page.getByLabel("Agent").fill("reviewer");
  await page.getByLabel("Scope").fill("login.ts");
  await page.getByText("To complete: Type.").waitFor();
  await page.getByLabel("Type", { exact: true }).selectOption("review");
  await page.getByText("To complete: Domains.").waitFor();
  await page.getByLabel("Intensity").selectOption("quick");
  await page.getByRole("checkbox", { name: "security" }).check();
  await page.getByRole("checkbox", { name: "api" }).check();
  await page.getByRole("checkbox", { name: "api" }).uncheck();
  await page.getByText("native-dispatch").waitFor();
  // A field that is shown twice would match twice.
  expect(await page.getByLabel("Time limit").getAttribute("placeholder")).toMatch(/^\d+$/);
  const answering = page.getByRole("region", { name: "Who answers" });
  await expect
    .poll(() => answering.getByRole("listitem").allInnerTexts())
    .toEqual([
      "Application Security Engineer security",
      "Challenger cross-domain",
      "Integration Checker cross-domain",
      "claude default model",
    ]);
  const request = page.waitForRequest((sent) => sent.url().endsWith("/api/v2/dispatch"));
  await page.getByRole("button", { name: "Dispatch" }).click();
  expect((await request).postDataJSON()).toEqual({
    provider: "bridge-claude",
    agentId: "reviewer",
    bridgeInput: {
      task_description: "Review the sign-in.",
      scope: "login.ts",
      task_type: "review",
      intensity: "quick",
      domains: ["security"],
    },
  });
  await page.waitForURL("**/ui/tasks/*");
  expectQuiet(opened);
});

test("a council runs again with the fields of the first run", async () => {
  const { page } = await openPage(browser, `${bridge.url}/ui/new?from=login-review`, { token: bridge.fullToken });
  await expect.poll(() => page.getByLabel("Scope").inputValue()).toBe("src/http/login.ts, src/session/");
  expect(await page.getByRole("checkbox", { name: "security" }).isChecked()).toBe(true);
  expect(await page.getByLabel("Runtime").inputValue()).toBe("claude");
});

test("the first command of an empty tenant is accepted, although there are several adapters", async () => {
  const { page } = await openPage(browser, `${bridge.url}/ui/`, { token: bridge.emptyToken });
  const command = (await page.locator("main pre").textContent()) ?? "";
  const [, url = "", body = ""] = /^curl (\S+) .*-d '(.*)'$/s.exec(command) ?? [];
  const headers = { authorization: `Bearer ${bridge.emptyToken}`, "content-type": "application/json" };
  const response = await fetch(url.replaceAll("'", ""), { method: "POST", headers, body });
  expect([response.status, JSON.parse(body).provider]).toEqual([202, "claude"]);
});

test("an agent that exists is chosen from a list, and Ctrl+Enter in the message sends the task", async () => {
  const opened = await openPage(browser, `${bridge.url}/ui/new`, { token: bridge.fullToken });
  const { page } = opened;
  await page.getByRole("group", { name: "Existing:" }).getByRole("button", { name: "reviewer" }).click();
  await page.getByRole("button", { name: "reviewer", pressed: true }).waitFor();
  expect(await page.getByLabel("Agent").inputValue()).toBe("reviewer");
  await page.getByLabel("Message").fill("Look.");
  await expect.poll(() => page.getByLabel("Time limit").getAttribute("placeholder")).toMatch(/^\d+$/);
  expect(await page.getByLabel("Profile").locator("option").first().textContent()).toBe("inspect (default)");
  await page.getByLabel("Message").focus();
  await page.keyboard.press("Enter");
  const request = page.waitForRequest((sent) => sent.url().endsWith("/api/v2/dispatch"));
  await page.keyboard.press("Control+Enter");
  expect((await request).postDataJSON()).toMatchObject({ agentId: "reviewer", message: "Look.\n" });
  await page.waitForURL("**/ui/tasks/*");
  expectQuiet(opened);
});
