import type { Browser, BrowserContextOptions } from "playwright-core";
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

const open = (path: string, options: BrowserContextOptions = {}): Promise<ConsolePage> =>
  openPage(browser, `${bridge.url}/ui/${path}`, { ...options, token: "secret-alpha" });

test("a dead callback is found from the overview and redelivered by keyboard alone", async () => {
  let isBroken = true;
  const receiver = await startReceiver((response) => response.writeHead(isBroken ? 500 : 204).end());
  await bridge.dispatch({ taskId: "dead-1", message: "done", callbackUrl: receiver.origin });
  const opened = await open("");
  const { page } = opened;
  await page.locator(".badge").filter({ hasText: "dead callback" }).waitFor();
  await page.getByRole("link", { name: receiver.origin }).press("Enter");
  const row = page.getByRole("listitem").filter({ hasText: "dead-1" });
  await row.getByText("HTTP 500").waitFor();
  isBroken = false;
  await page.keyboard.press("j");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await page.getByText(`Redelivery of 1 callback to ${receiver.origin}: 1 delivered.`).waitFor();
  await page.getByText("No callback is dead.").waitFor();
  await page.getByRole("link", { name: "delivered" }).click();
  await page.getByRole("listitem").filter({ hasText: "dead-1" }).getByText("2 attempts").waitFor();
  await receiver.close();
  expectQuiet(opened);
});

test("a task is dispatched with a form, by keyboard alone", async () => {
  const opened = await open("new");
  const { page } = opened;
  await page.getByLabel("Adapter").waitFor();
  await page.getByRole("option", { name: "memory" }).waitFor({ state: "attached" });
  await page.keyboard.press("/");
  await page.keyboard.type("memory");
  await page.keyboard.press("Tab");
  await page.keyboard.type("writer");
  await page.keyboard.press("Tab");
  await page.keyboard.type("Hello from the form.");
  for (let tabs = 0; tabs < 12; tabs += 1) {
    if ((await page.evaluate("document.activeElement.textContent.trim()")) === "Dispatch") break;
    await page.keyboard.press("Tab");
  }
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: /completed/ }).waitFor();
  expect(await page.getByText("Hello from the form.").count()).toBeGreaterThan(1);
  expectQuiet(opened);
});

test("the form shows what the dispatch would do before it is sent, and warns of nothing before the first edit", async () => {
  const opened = await open("new");
  const { page } = opened;
  const check = page.getByRole("region", { name: "What the dispatch would do" });
  await page.getByRole("option", { name: "memory" }).waitFor({ state: "attached" });
  await check.getByText("Fill in the form").waitFor();
  await page.getByLabel("Adapter").selectOption("memory");
  await check.getByText("To complete: Agent, Message.").waitFor();
  expect(await page.locator(".field-error, .note").count()).toBe(0);
  await page.getByLabel("Agent").fill("checked");
  await page.getByText("This is a new agent").waitFor();
  await page.getByLabel("Message").fill("Hello.");
  await page.getByLabel("Time limit in seconds").fill("90");
  await check.getByText("1 min 30 s").waitFor();
  await check.getByText("default of the runtime").waitFor();
  expect((await bridge.call("GET", "/api/v2/tasks?agentId=checked")).body.data).toEqual([]);
  expectQuiet(opened);
});

test("an invalid field is reported once, at the field and in the words of the form, and the form keeps its content", async () => {
  const { page } = await open("new");
  await page.getByRole("option", { name: "memory" }).waitFor({ state: "attached" });
  await page.getByLabel("Adapter").selectOption("memory");
  await page.getByLabel("Message").fill("Hello.");
  await page.getByLabel("Time limit in seconds").fill("0");
  await page.locator("#timeoutSeconds-error").getByText("Time limit in seconds must").waitFor();
  await page.getByLabel("Agent").fill("no spaces allowed");
  await page.getByRole("button", { name: "Dispatch" }).click();
  await page.locator("#agentId-error").getByText("Agent must").waitFor();
  expect(await page.getByLabel("Agent").getAttribute("aria-invalid")).toBe("true");
  expect(await page.getByLabel("Message").inputValue()).toBe("Hello.");
  const text = (await page.locator("main").textContent()) ?? "";
  expect([text.split("Agent must").length - 1, text.includes("agentId must"), text.includes("would reject")]).toEqual([1, false, false]);
});

test("the adapter of the last dispatch is chosen in the next form, and an offline one never", async () => {
  const { page } = await open("new");
  await page.getByRole("option", { name: "narrow" }).waitFor({ state: "attached" });
  expect(await page.getByRole("option", { name: "absent (offline)" }).isDisabled()).toBe(true);
  expect(await page.getByRole("option", { name: "default", exact: true }).and(page.locator("#provider option")).count()).toBe(0);
  await page.getByLabel("Adapter").selectOption("narrow");
  await page.getByLabel("Agent").fill("last-used");
  await page.getByLabel("Message").fill("fine");
  await page.getByRole("button", { name: "Dispatch" }).click();
  await page.getByRole("heading", { name: /completed/ }).waitFor();
  await page.getByRole("link", { name: "New task" }).click();
  await expect.poll(() => page.getByLabel("Adapter").inputValue()).toBe("narrow");
});

test("a task runs again with changes", async () => {
  await bridge.dispatch({ taskId: "first-run", message: "first", metadata: { ticket: 7 } });
  const { page } = await open("tasks/first-run");
  await page.getByRole("link", { name: "Run again with changes" }).click();
  await expect.poll(() => page.getByLabel("Message").inputValue()).toBe("first");
  await page.getByLabel("Message").fill("second");
  await page.getByRole("button", { name: "Dispatch" }).click();
  await page.getByRole("heading", { name: /completed/ }).waitFor();
  await page.getByRole("complementary", { name: "Details" }).getByText('"ticket": 7').waitFor();
});

test("an adapter that is offline shows why", async () => {
  const { page } = await open("adapters");
  const section = page.getByRole("region", { name: "absent" });
  await section.getByText("offline").waitFor();
  await section.getByText("It is not installed.").waitFor();
  // The check of this moment is described in words.
  const checked = page.getByRole("region", { name: "memory" });
  await checked.getByText(/checked (just now|\d+ \w+ ago)/).waitFor();
});
