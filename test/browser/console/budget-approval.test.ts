import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { AdapterConfig } from "#contract";
import { createInMemoryAdapter } from "../../adapters/in-memory-adapter.ts";
import { type Bridge, startBridge } from "../../support/start-bridge.ts";
import { openChromium } from "../open-chromium.ts";
import { expectQuiet, openPage } from "./open-page.ts";

let browser: Browser;
let bridge: Bridge;
beforeAll(async () => {
  browser = await openChromium();
  bridge = await startBridge({}, { adapters: [{ provider: "spender", adapter: createSpender() }] });
});
afterAll(async () => {
  await browser?.close();
  await bridge?.close();
});

/** Spends 52 cents, and then needs the permission for another call. */
function createSpender() {
  let config: AdapterConfig | undefined;
  const adapter = createInMemoryAdapter({
    provider: "spender",
    capabilities: { holdsModelCalls: true },
    async run({ taskId }, emit) {
      emit("usage.reported", { usage: { inputTokens: 10, outputTokens: 0 }, costUsd: 0.52 });
      return { output: JSON.stringify(await config?.mayCallModel(taskId)) };
    },
  });
  return {
    ...adapter,
    async initialize(given: AdapterConfig) {
      config = given;
      await adapter.initialize(given);
    },
  };
}

test("an approval of a budget shows what is spent, and a person raises the maximum by an amount", async () => {
  const opened = await openPage(browser, `${bridge.url}/ui/approvals`, { token: "secret-alpha" });
  await bridge.dispatch({ taskId: "dear", provider: "spender", budget: { maxCostUsd: 0.5, onReached: "ask" } });
  const card = opened.page.locator(".approval").filter({ hasText: "dear" });
  await card.getByText("The task has spent 0.52 of 0.50 USD.").waitFor();
  await card.getByLabel("Raise by (US dollars)").fill("2.5");
  await card.getByRole("button", { name: "Approve" }).click();
  await card.getByText("by alpha, raised by 2.5 USD").waitFor();
  const { body } = await bridge.call("GET", "/api/v2/approvals?taskId=dear");
  expect(body.data).toMatchObject([{ kind: "budget", state: "approved", raiseByUsd: 2.5 }]);
  expectQuiet(opened);
});
