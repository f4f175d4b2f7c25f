import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createInMemoryAdapter } from "../../adapters/in-memory-adapter.ts";
import { type Bridge, startBridge } from "../../support/start-bridge.ts";
import { openChromium } from "../open-chromium.ts";
import { type ConsolePage, expectQuiet, findAccessibilityViolations, openPage } from "./open-page.ts";

const CALLS = 250;

/** Calls a tool many times, and fails with the message as its code. */
const busy = createInMemoryAdapter({
  provider: "busy",
  async run({ message }, emit) {
    if (message !== "many") return { status: "error", errorCode: message as "timeout", error: "It took too long." };
    for (let number = 0; number < CALLS; number += 1) {
      const call = { toolCallId: `call-${number}`, toolName: "run" };
      emit("tool.invoked", { ...call, input: { command: `echo "${number}"` } });
      emit("tool.completed", { ...call, output: "", isError: number === 120 });
    }
    return { output: "Done." };
  },
});

let browser: Browser;
let bridge: Bridge;
beforeAll(async () => {
  browser = await openChromium();
  bridge = await startBridge({}, { adapters: [{ provider: "busy", adapter: busy }] });
});
afterAll(async () => {
  await browser?.close();
  await bridge?.close();
});

const open = (path: string): Promise<ConsolePage> => openPage(browser, `${bridge.url}/ui/${path}`, { token: "secret-alpha" });
const run = (body: object) => bridge.dispatch({ provider: "busy", ...body }, { headers: { prefer: "wait=20" } });

test("a failed task leads with its code, the advice, and a button that runs it again with a longer limit", async () => {
  await run({ taskId: "slow-1", message: "timeout", timeoutSeconds: 90, labels: { team: "web" } });
  const opened = await open("tasks/slow-1");
  const { page } = opened;
  const failure = page.getByRole("region", { name: "Why the task failed" });
  await failure.getByText("It took too long.").waitFor();
  await failure.getByText("Send a larger timeoutSeconds, up to 86400.").waitFor();
  expect(await page.getByText("It took too long.").count()).toBe(1);
  await failure.getByRole("button", { name: "Run again with 3 min" }).click();
  await expect.poll(() => page.url()).not.toContain("slow-1");
  await page.getByRole("region", { name: "Why the task failed" }).waitFor();
  const taskId = page.url().split("/").at(-1) as string;
  const { request } = (await bridge.call("GET", `/api/v2/tasks/${taskId}/request`)).body;
  expect(request).toMatchObject({ message: "timeout", timeoutSeconds: 180, labels: { team: "web" } });
  expectQuiet(opened);
});

test("the failure of a login opens its adapter", async () => {
  await run({ taskId: "login-1", message: "authentication_required" });
  const { page } = await open("tasks/login-1");
  await page.getByRole("link", { name: "Open the adapter busy" }).click();
  await page.getByRole("region", { name: "busy" }).waitFor();
});

test("a long timeline is read from its start, filtered to its errors, and searched by time", async () => {
  await run({ taskId: "long-1", message: "many" });
  const opened = await open("tasks/long-1");
  const { page } = opened;
  const calls = page.locator("bridge-call");
  await calls.first().getByText('echo "0"').waitFor();
  expect(await calls.count()).toBe(100);
  await page.getByRole("button", { name: "Show 100 later entries (150 left)" }).click();
  await expect.poll(() => calls.count()).toBe(200);
  // All calls can lie at the end of the axis, because the task takes only some milliseconds.
  await page.getByLabel("Time in the timeline").press("Home");
  await page.getByLabel("Time in the timeline").press("End");
  await calls.getByText(`echo "${CALLS - 1}"`).waitFor();
  expect(await findAccessibilityViolations(page)).toEqual([]);

  await page.getByRole("button", { name: "Errors 1" }).click();
  await expect.poll(() => calls.count()).toBe(1);
  await calls.getByText('echo "120"').waitFor();
  await page.getByRole("button", { name: "Open all" }).click();
  await page.getByRole("heading", { name: "Input" }).waitFor();
  await page.getByRole("button", { name: `Tools ${CALLS}` }).click();
  await page.getByRole("button", { name: "Oldest first" }).click();
  await calls
    .first()
    .getByText(`echo "${CALLS - 1}"`)
    .first()
    .waitFor();
  expectQuiet(opened);
});

test("a task is deleted from its menu, after a confirmation", async () => {
  await run({ taskId: "gone-1", message: "many" });
  const opened = await open("tasks/gone-1");
  const { page } = opened;
  await page.getByLabel("More actions").click();
  await page.getByRole("button", { name: "Delete …" }).click();
  await page.getByRole("button", { name: "No" }).click();
  expect((await bridge.call("GET", "/api/v2/tasks/gone-1")).status).toBe(200);
  await page.getByLabel("More actions").click();
  await page.getByRole("button", { name: "Delete …" }).click();
  await page.getByRole("button", { name: "Yes, delete" }).click();
  await page.getByRole("heading", { name: "Tasks" }).waitFor();
  expect((await bridge.call("GET", "/api/v2/tasks/gone-1")).status).toBe(404);
  expectQuiet(opened);
});
