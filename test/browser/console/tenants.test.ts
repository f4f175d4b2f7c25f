import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Bridge, startBridge } from "../../support/start-bridge.ts";
import { startReceiver } from "../../support/start-receiver.ts";
import { openChromium } from "../open-chromium.ts";
import { expectQuiet, openPage } from "./open-page.ts";

let browser: Browser;
let bridge: Bridge;
let receiver: Awaited<ReturnType<typeof startReceiver>>;
beforeAll(async () => {
  browser = await openChromium();
  bridge = await startBridge();
  receiver = await startReceiver((response) => response.writeHead(500).end());
});
afterAll(async () => {
  await browser?.close();
  await bridge?.close();
  await receiver?.close();
});

/** Two tenants. All ids and texts of a tenant contain its word. */
const sides = [
  { tenant: "alpha", word: "northern", otherWord: "southern" },
  { tenant: "beta", word: "southern", otherWord: "northern" },
] as const;
type Side = (typeof sides)[number];

/** Opens the console in its own browser profile, and records what Bridge sends to it. */
async function openSide(side: Side) {
  const opened = await openPage(browser, `${bridge.url}/ui/`, { token: `secret-${side.tenant}` });
  const recorded = await record(opened.page);
  // The event stream is recorded from its start.
  await opened.page.reload();
  return { ...side, ...opened, ...recorded };
}

async function record(page: Page) {
  const answers: string[] = [];
  const streamed: string[] = [];
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("Network.enable");
  devtools.on("Network.responseReceived", ({ requestId, response: { mimeType } }) => {
    if (mimeType !== "text/event-stream") return;
    const sent = devtools.send("Network.streamResourceContent", { requestId });
    sent.then(
      ({ bufferedData }) => streamed.push(decode(bufferedData)),
      () => {},
    );
  });
  devtools.on("Network.dataReceived", ({ data = "" }) => streamed.push(decode(data)));
  page.on("response", (response) => {
    if (response.headers()["content-type"]?.includes("json") !== true) return;
    // The page can have moved on before the whole answer was read.
    response.text().then(
      (text) => answers.push(text),
      () => {},
    );
  });
  return { answers, streamed };
}

const decode = (base64: string): string => Buffer.from(base64, "base64").toString();

/** Runs a task that waits for an approval, one that fails, and one whose callback is dead. */
async function runTasks({ tenant, word }: Side): Promise<void> {
  const dispatch = (taskId: string, message: string, more: Record<string, unknown> = {}) =>
    bridge.dispatch({ taskId, agentId: `${word}-agent`, message, labels: { side: word }, ...more }, { token: tenant });
  await dispatch(`${word}-asks`, "ask");
  await dispatch(`${word}-fails`, "fail");
  await dispatch(`${word}-writes`, `A ${word} text`, { callbackUrl: `${receiver.origin}/${word}` });
}

const pages = ["tasks", "tasks?state=failed", "approvals", "callbacks", "webhooks", "adapters", "usage", "usage?by=label", "new", ""];

test("two tenants who use the console side by side receive and see nothing of each other", async () => {
  const opened = await Promise.all(sides.map(openSide));
  for (const { page } of opened) {
    await page.getByText("No tasks yet.").waitFor();
    await page.getByText("live", { exact: true }).waitFor();
  }
  await Promise.all(sides.map(runTasks));
  for (const { page, word, streamed } of opened) {
    await page.getByRole("link", { name: "Approvals 1" }).waitFor();
    await page.getByRole("link", { name: "Callbacks 1" }).waitFor();
    await expect.poll(() => streamed.join("")).toContain(`${word}-fails`);
  }
  for (const { page, word, otherWord } of opened) {
    for (const target of [...pages, `tasks/${word}-writes`]) {
      await page.goto(`${bridge.url}/ui/${target}`);
      await page.getByText("live", { exact: true }).waitFor();
      await page.locator("main h1").waitFor();
      await page.getByText("Loading …").waitFor({ state: "detached" });
      expect(await page.locator("body").textContent(), target).not.toContain(otherWord);
    }
    await page.getByText(`A ${word} text`).first().waitFor();
  }
  for (const { answers, streamed, word, otherWord, ...side } of opened) {
    const received = [...answers, ...streamed].join("\n");
    expect(received).toContain(`${word}-writes`);
    expect(received).not.toContain(otherWord);
    expectQuiet(side);
  }
});

test("a link to a task of another tenant leads to no task", async () => {
  await bridge.dispatch({ taskId: "linked", message: "secret text" }, { token: "beta", headers: { prefer: "wait=20" } });
  const { page } = await openPage(browser, `${bridge.url}/ui/tasks/linked`, { token: "secret-alpha" });
  await page.getByText("There is no such task.").waitFor();
  expect(await page.getByText("secret text").count()).toBe(0);
});
