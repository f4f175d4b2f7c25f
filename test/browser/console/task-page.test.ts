import { readFile } from "node:fs/promises";
import type { Browser, BrowserContextOptions } from "playwright-core";
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
    if (message === "unfinished" || message === "echoed") {
      emit("assistant.text", { content: "API error: overloaded" });
      const error = message === "echoed" ? "API error: overloaded" : "The model did not answer.";
      return { status: "error", errorCode: "model_error", output: "API error: overloaded", error };
    }
    if (message === "few") {
      emit("assistant.text", { content: "Two calls." });
      for (const toolCallId of ["first", "second"]) emit("tool.invoked", { toolCallId, toolName: toolCallId, input: {} });
      return { output: "Done." };
    }
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

const open = (path: string, options: BrowserContextOptions = {}): Promise<ConsolePage> =>
  openPage(browser, `${bridge.url}/ui/${path}`, { ...options, token: "secret-alpha" });
const run = (body: object) => bridge.dispatch({ provider: "busy", ...body }, { headers: { prefer: "wait=20" } });

test("a failed task leads with its code, the advice, and a button that runs it again with a longer limit", async () => {
  await run({ taskId: "slow-1", message: "timeout", timeoutSeconds: 90, labels: { team: "web" } });
  const opened = await open("tasks/slow-1");
  const { page } = opened;
  const failure = page.getByRole("region", { name: "Why the task failed" });
  await failure.getByText("It took too long.").waitFor();
  await failure.getByText("Send a larger timeoutSeconds, up to 86400.").waitFor();
  expect(await page.getByText("It took too long.").count()).toBe(1);
  expect(await failure.getByText("600 by default").count()).toBe(0);
  await failure.getByRole("button", { name: "Run again with 3 min" }).click();
  await expect.poll(() => page.url()).not.toContain("slow-1");
  await page.getByRole("region", { name: "Why the task failed" }).waitFor();
  const taskId = page.url().split("/").at(-1) as string;
  const { request } = (await bridge.call("GET", `/api/v2/tasks/${taskId}/request`)).body;
  expect(request).toMatchObject({ message: "timeout", timeoutSeconds: 180, labels: { team: "web" } });
  expectQuiet(opened);
});

test("the form that repeats a task which ran out of time has a longer limit, and names the reason at its field", async () => {
  await run({ taskId: "slow-2", message: "timeout", timeoutSeconds: 90 });
  const opened = await open("tasks/slow-2");
  const { page } = opened;
  await page.getByRole("region", { name: "Why the task failed" }).getByRole("link", { name: "Run again with changes" }).click();
  const limit = page.getByLabel("Time limit in seconds");
  await expect.poll(() => limit.inputValue()).toBe("180");
  const reason = "Twice as long as before, because slow-2 ran into its time limit.";
  expect(
    await limit.evaluate((field: { ariaDescribedByElements: { textContent: string }[] }) => field.ariaDescribedByElements[0]?.textContent),
  ).toBe(reason);
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
  await page.getByRole("button", { name: "Close all" }).click();
  await expect.poll(() => page.getByRole("heading", { name: "Input" }).count()).toBe(0);
  expect(await page.getByRole("button", { name: "Text" }).count()).toBe(0);
  await page.getByRole("button", { name: `Tools ${CALLS}` }).click();
  await page.getByLabel("Order").selectOption("Newest first");
  await calls
    .first()
    .getByText(`echo "${CALLS - 1}"`)
    .first()
    .waitFor();
  expectQuiet(opened);
});

test.each([
  ["unfinished", "The model did not answer.", 1],
  ["echoed", "API error: overloaded", 0],
])(
  "the page of the failed task %s shows its error once, and its text in its turn unless that is the error",
  async (message, error, texts) => {
    await run({ taskId: `failed-${message}`, message });
    const opened = await open(`tasks/failed-${message}`);
    const { page } = opened;
    await page.getByRole("region", { name: "Why the task failed" }).getByText(error).waitFor();
    await page.getByRole("heading", { name: "Turn 1" }).waitFor();
    expect(await page.getByText(error).count()).toBe(1);
    expect(await page.locator(".timeline").getByText("API error: overloaded").count()).toBe(texts);
    expect(await page.getByText("shown as the result").count()).toBe(0);
    expect(await page.getByText("The error, which is shown above.").count()).toBe(1 - texts);
    expectQuiet(opened);
  },
);

test("the bars of a timeline take two fifths of a wide page, on an axis with labels, and stand below their rows on a phone", async () => {
  await run({ taskId: "bars-1", message: "many" });
  const { page } = await open("tasks/bars-1", { viewport: { width: 1280, height: 800 } });
  const lane = page.locator("bridge-call .lane").first();
  await lane.waitFor();
  const boxOf = async (selector: string) => (await page.locator(selector).first().boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
  expect((await boxOf("bridge-call .lane")).width / (await boxOf(".timeline")).width).toBeGreaterThanOrEqual(0.4);
  const [axis, bars] = [await boxOf(".axis"), await boxOf("bridge-call .lane")];
  expect([Math.abs(axis.x - bars.x), Math.abs(axis.width - bars.width)].map(Math.round)).toEqual([0, 0]);
  expect((await boxOf("bridge-call .bar")).width).toBeGreaterThanOrEqual(6);
  expect(await page.locator(".axis text").first().textContent()).toBe("0");
  await page.setViewportSize({ width: 390, height: 800 });
  const [line, below] = [await boxOf("bridge-call .line"), await boxOf("bridge-call .lane")];
  expect(below.y).toBeGreaterThanOrEqual(line.y + line.height);
  expect(below.width).toBeGreaterThan(200);
  expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(390);
});

test("the facts of a failed task follow its error on a phone", async () => {
  await run({ taskId: "phone-1", message: "timeout" });
  const { page } = await open("tasks/phone-1", { viewport: { width: 390, height: 800 } });
  const error = await page.getByRole("region", { name: "Why the task failed" }).boundingBox();
  const facts = await page.getByRole("complementary", { name: "Details" }).boundingBox();
  expect(facts?.y).toBeGreaterThan((error?.y ?? 0) + (error?.height ?? 0));
});

test("the longest calls of a timeline can stand first, without the texts between them", async () => {
  await run({ taskId: "few-1", message: "few" });
  const opened = await open("tasks/few-1");
  const { page } = opened;
  const timeline = page.locator(".timeline");
  await timeline.getByText("Two calls.").waitFor();
  expect(await timeline.getByText("cut off").count()).toBe(2);
  expect(await timeline.locator(".bar.cut").count()).toBe(2);
  expect(await timeline.getByRole("img", { name: /^Model: / }).count()).toBe(1);
  await page.getByLabel("Order").selectOption("Longest first");
  await expect.poll(() => timeline.getByText("Two calls.").count()).toBe(0);
  expect(new Set(await timeline.locator("code.tool").allTextContents())).toEqual(new Set(["first", "second"]));
  expect(await findAccessibilityViolations(page)).toEqual([]);
  expectQuiet(opened);
});

test("the menu of a task copies its id, its link and the commands that read it, and saves it as JSON", async () => {
  await run({ taskId: "menu-1", message: "timeout" });
  const opened = await open("tasks/menu-1", { permissions: ["clipboard-read", "clipboard-write"] });
  const { page } = opened;
  const copied = () => page.evaluate("navigator.clipboard.readText()");
  await page.getByRole("button", { name: "Copy the id" }).click();
  await page.getByText("Copied the id.").waitFor();
  expect(await copied()).toBe("menu-1");
  for (const [name, what, text] of [
    ["Copy the link", "link", `${bridge.url}/ui/tasks/menu-1`],
    ["Copy as curl", "curl command", `curl ${bridge.url}/api/v2/tasks/menu-1 -H "Authorization: Bearer $BRIDGE_TOKEN"`],
    ["Copy as command", "command", "brg task menu-1"],
  ] as const) {
    await page.getByLabel("More actions").press("Enter");
    await page.getByRole("button", { name }).press("Enter");
    await page.getByText(`Copied the ${what}.`).waitFor();
    expect(await copied()).toBe(text);
  }
  await page.getByLabel("More actions").click();
  const saving = page.waitForEvent("download");
  await page.getByRole("button", { name: "Save as JSON" }).click();
  const saved = await saving;
  expect(saved.suggestedFilename()).toBe("menu-1.json");
  expect(JSON.parse(await readFile(await saved.path(), "utf8"))).toEqual((await bridge.call("GET", "/api/v2/tasks/menu-1")).body);
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
