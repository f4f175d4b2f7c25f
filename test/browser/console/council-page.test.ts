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

const open = (path: string, token: string) => openPage(browser, `${bridge.url}/ui/${path}`, { token });

test("a council shows its verdict, its roles in a panel with links that a finger can hit, and each finding once", async () => {
  const opened = await open("tasks/login-review", bridge.fullToken);
  const { page } = opened;
  const matrix = page.getByRole("region", { name: "Roles and rounds" });
  const links = matrix.getByRole("link");
  await links.first().waitFor();
  for (const link of await links.all()) {
    const box = await link.boundingBox();
    expect(Math.min(box?.width ?? 0, box?.height ?? 0)).toBeGreaterThanOrEqual(24);
  }
  const styleOf = (name: string) =>
    matrix.evaluate((element: never, style: string) => Reflect.get(globalThis, "getComputedStyle")(element)[style], name);
  expect(await styleOf("borderRadius")).not.toBe("0px");
  const sizeOf = (selector: string) =>
    page
      .locator(selector)
      .first()
      .evaluate((element: never) => Number.parseFloat(Reflect.get(globalThis, "getComputedStyle")(element).fontSize));
  expect(await sizeOf("#council .badge")).toBeGreaterThan(await sizeOf(".findings .badge"));
  expect(await sizeOf("#council .badge")).toBeLessThan(await sizeOf("#council"));
  const findings = page.locator(".findings > li > details > summary");
  const texts = (await findings.allTextContents()).map((text) => text.replaceAll(/\s+/g, " ").trim());
  expect(texts).toEqual([
    "▲ HIGH confirmed A session stays valid after the password has changed Application Security Engineer",
    "▲ MEDIUM confirmed A full store and a wrong password return the same status API Designer",
  ]);
  expectQuiet(opened);
});

test("the progress of a council is folded between the rows of its roles, which show what they cost", async () => {
  const opened = await open("tasks/login-review", bridge.fullToken);
  const timeline = opened.page.locator(".timeline");
  const folded = timeline.getByText("Round 1, analysis: 4 of 4 answered, 2 findings");
  await folded.waitFor();
  const line = timeline.getByText("Round 1, analysis: API Designer answered, 2 of 4");
  expect(await line.isVisible()).toBe(false);
  await folded.click();
  await line.waitFor();
  await timeline.getByText("claude · security · round 1 · $0.080 · 14.8 k tokens").waitFor();
  expectQuiet(opened);
});

test("a decided approval shows the first argument of its call as the timeline does, with who decided and why", async () => {
  const opened = await open("approvals", bridge.fullToken);
  const decided = opened.page.locator(".decided-calls > li");
  await decided.getByText("npm uninstall moment && git rm -r src/dates/legacy", { exact: true }).waitFor();
  await decided.getByText("by ada: The tests pass without it.").waitFor();
  expect(await decided.textContent()).not.toContain("{");
  await decided.getByRole("link", { name: "Replace moment by Temporal." }).click();
  await opened.page.getByRole("heading", { name: "Replace moment by Temporal." }).waitFor();
  expectQuiet(opened);
});

test("a page without approvals names how an agent asks for one", async () => {
  const opened = await open("approvals", bridge.emptyToken);
  const { page } = opened;
  await page.getByText("No tool call waits for a decision.").waitFor();
  await page.getByText("docs/approvals.md").waitFor();
  await page.getByRole("link", { name: "Dispatch such a task" }).click();
  await page.getByRole("heading", { name: "New task" }).waitFor();
  expectQuiet(opened);
});
