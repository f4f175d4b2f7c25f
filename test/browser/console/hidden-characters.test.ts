import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createInMemoryAdapter } from "../../adapters/in-memory-adapter.ts";
import { type Bridge, startBridge } from "../../support/start-bridge.ts";
import { openChromium } from "../open-chromium.ts";
import { expectQuiet, openPage } from "./open-page.ts";

let browser: Browser;
let bridge: Bridge;
beforeAll(async () => {
  browser = await openChromium();
  const detail = "The program printed \u202eevil\u001b[2J";
  const health = { status: "offline", connection: null, version: null, detail, preflight: [] } as const;
  const adapter = { ...createInMemoryAdapter({ provider: "evil" }), checkHealth: async () => ({ ...health, preflight: [] }) };
  bridge = await startBridge({}, { adapters: [{ provider: "evil", adapter }] });
});
afterAll(async () => {
  await browser?.close();
  await bridge?.close();
});

test.each(["", "adapters"])("the page /ui/%s shows the hidden characters of the health of an adapter", async (path) => {
  const opened = await openPage(browser, `${bridge.url}/ui/${path}`, { token: "secret-alpha" });
  await opened.page.getByText("The program printed ⟨U+202E⟩evil␛[2J").first().waitFor();
  expectQuiet(opened);
});

test("an error that names what was asked for shows its hidden characters", async () => {
  const opened = await openPage(browser, `${bridge.url}/ui/tasks/no%E2%80%AEsuch`, { token: "secret-alpha" });
  await opened.page.getByRole("heading", { name: "no⟨U+202E⟩such" }).waitFor();
  expect(await opened.page.locator("main").textContent()).not.toContain("\u202e");
});
