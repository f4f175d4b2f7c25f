import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parseExactJson } from "#contract";
import { createInMemoryAdapter } from "../../adapters/in-memory-adapter.ts";
import { type Bridge, startBridge } from "../../support/start-bridge.ts";
import { openChromium } from "../open-chromium.ts";
import { expectQuiet, openPage } from "./open-page.ts";

/** JavaScript would write 12345678901234567000, 11345678901234567000 and so on. */
const [input, output, outputs] = ["11345678901234567890", "12345678901234567890", "13345678901234567890"];
const parse = (number: string | undefined) => parseExactJson(`{"id":${number}}`) as Record<string, unknown>;

let browser: Browser;
let bridge: Bridge;
beforeAll(async () => {
  browser = await openChromium();
  const adapter = createInMemoryAdapter({
    provider: "exact",
    async run(_request, emit) {
      emit("tool.invoked", { toolCallId: "call-1", toolName: "find", input: parse(input) });
      emit("tool.completed", { toolCallId: "call-1", toolName: "find", output: parse(output), isError: false });
      return { output: "Found.", outputs: parse(outputs) };
    },
  });
  bridge = await startBridge({}, { adapters: [{ provider: "exact", adapter }] });
});
afterAll(async () => {
  await browser?.close();
  await bridge?.close();
});

test("the page of a task shows all digits of the inputs and outputs of tools, and of the outputs", async () => {
  await bridge.dispatch({ provider: "exact", taskId: "exact-1" });
  const opened = await openPage(browser, `${bridge.url}/ui/tasks/exact-1`, { token: "secret-alpha" });
  await opened.page.getByText("Found.").first().waitFor();
  await expect.poll(() => opened.page.locator("main").textContent()).toContain(`"id": ${outputs}`);
  // The summary of a call contains its input, and opens its output.
  await opened.page.getByText(`{ "id": ${input} }`).click();
  await expect.poll(() => opened.page.locator("main").textContent()).toContain(`"id": ${output}`);
  expectQuiet(opened);
});
