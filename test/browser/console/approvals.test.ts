import type { Browser, BrowserContextOptions } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Bridge, startBridge } from "../../support/start-bridge.ts";
import { openChromium, openContext } from "../open-chromium.ts";
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

const open = (path: string, options: BrowserContextOptions = {}, token = "secret-alpha"): Promise<ConsolePage> =>
  openPage(browser, `${bridge.url}/ui/${path}`, { ...options, token });

test("an approval that is asked appears at once: on the page, in the title, in the icon and in the navigation", async () => {
  const opened = await open("approvals");
  const { page } = opened;
  await page.getByText("No tool call waits for a decision.").waitFor();
  const icon = (): Promise<string | null> => page.locator("link[rel=icon]").getAttribute("href");
  const calmIcon = await icon();
  await bridge.dispatch({ taskId: "ask-now", message: "ask" });
  const card = page.locator(".approval").filter({ hasText: "ask-now" });
  await card.getByText("a.md").waitFor();
  await card.getByText("auto-rejects in").waitFor();
  await expect.poll(() => page.title()).toBe("(1) Approvals · Bridge");
  expect(await icon()).not.toBe(calmIcon);
  await page.getByRole("link", { name: "Approvals 1" }).waitFor();

  await card.getByLabel("Reason").fill("Not today.");
  await card.getByRole("button", { name: "Reject" }).click();
  await card.getByText("by alpha: Not today.").waitFor();
  await expect.poll(() => page.title()).toBe("Approvals · Bridge");
  expectQuiet(opened);
});

test.each([
  ["ahead of", 3_600_000],
  ["behind", -3_600_000],
])("times are right in a browser whose clock is an hour %s that of Bridge", async (_, differenceMs) => {
  const taskId = `skewed-${differenceMs > 0 ? "ahead" : "behind"}`;
  const context = await openContext(browser);
  await context.addInitScript(`const now = Date.now; Date.now = () => now() + ${differenceMs};`);
  await context.addInitScript('sessionStorage.setItem("bridge.token", "secret-alpha")');
  const page = await context.newPage();
  await bridge.dispatch({ taskId, message: "ask", agentId: "skewed" });
  await page.goto(`${bridge.url}/ui/approvals`);
  const card = page.locator(".approval").filter({ hasText: taskId });
  await card.getByText(/auto-rejects in [1-9]+ min/).waitFor();
  await card.getByText(/asked (just now|\d+ s ago)/).waitFor();
  await card.getByRole("button", { name: "Approve" }).click();
  await card.getByText("approved").first().waitFor();
  await bridge.dispatch({ taskId: `${taskId}-work`, message: "work", agentId: "skewed" });
  await page.goto(`${bridge.url}/ui/tasks?agentId=skewed`);
  const row = page.getByRole("row").filter({ has: page.getByRole("link", { name: `${taskId}-work` }) });
  await row.getByText("running").waitFor();
  await bridge.call("POST", `/api/v2/tasks/${taskId}-work/cancel`);
  await context.close();
});

test("an approval is decided by keyboard alone", async () => {
  await bridge.dispatch({ taskId: "keyboard-1", message: "ask" });
  const { page } = await open("approvals");
  const card = page.locator(".approval").filter({ hasText: "keyboard-1" });
  await card.waitFor();
  await page.keyboard.press("a");
  expect((await bridge.call("GET", "/api/v2/tasks/keyboard-1")).body.state).toBe("running");
  await page.keyboard.press("j");
  await page.keyboard.press("a");
  await card.getByText("again to approve").waitFor();
  await page.keyboard.press("a");
  await card.getByText("approved", { exact: true }).or(card.getByText("approved by alpha")).first().waitFor();
  await page.keyboard.press("?");
  await page.getByRole("dialog").getByText("approve or reject").waitFor();
});

test("keys that are pressed before the page has painted the selection decide about the selected call", async () => {
  const ids = ["fast-1", "fast-2"];
  for (const taskId of ids) await bridge.dispatch({ taskId, message: "ask" });
  const { page } = await open("approvals");
  await page.locator(".approval").filter({ hasText: "fast-2" }).waitFor();
  await page.keyboard.press("j");
  await page.locator(".approval[aria-current]").filter({ hasText: "fast-1" }).waitFor();
  await page.evaluate(
    'for (const key of ["j", "a", "a"]) document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }))',
  );
  await page.locator(".approval").filter({ hasText: "fast-2" }).getByText("approved").first().waitFor();
  const states = await Promise.all(ids.map(async (id) => (await bridge.call("GET", `/api/v2/tasks/${id}`)).body.waitingOn));
  expect(states).toEqual(["approval", null]);
  await bridge.call("POST", "/api/v2/tasks/fast-1/cancel");
});

test("a page that is late shows who decided", async () => {
  await bridge.dispatch({ taskId: "late-1", message: "ask" });
  const opened = await open("approvals");
  const { page } = opened;
  const card = page.locator(".approval").filter({ hasText: "late-1" });
  const isList = ({ pathname, search }: URL): boolean => pathname.endsWith("/approvals") && /state=pending|limit=100\b/.test(search);
  let isCut = false;
  await page.route(isList, async (route) => {
    const response = await route.fetch();
    // Also an answer to a request that began before.
    await (isCut ? route.abort() : route.fulfill({ response }));
  });
  await page.reload();
  await card.waitFor();
  // The page can no longer load the list, so that its own decision comes second.
  isCut = true;
  const { body } = await bridge.call("GET", "/api/v2/approvals?state=pending");
  const { approvalId } = body.data.find((approval: { taskId: string }) => approval.taskId === "late-1");
  await bridge.call("POST", `/api/v2/approvals/${approvalId}`, { body: { decision: "reject", reason: "Too risky." } });
  await card.getByRole("button", { name: "Approve" }).click();
  await card.getByText("The approval was already rejected by alpha: Too risky.").waitFor();
});

test("an approval that expires on an open page no longer waits: the buttons and all counts go at once, and Bridge's rejection is shown", async () => {
  await bridge.dispatch({ taskId: "expires-1", message: "ask" });
  const opened = await open("approvals");
  const { page } = opened;
  const card = page.locator(".approval").filter({ hasText: "expires-1" });
  await card.getByRole("button", { name: "Approve" }).waitFor();
  await page.getByRole("link", { name: "Approvals 1" }).waitFor();
  // Bridge itself still lists the approval as pending.
  await page.route(
    ({ pathname }) => pathname.endsWith("/approvals"),
    async (route) => {
      const response = await route.fetch();
      const body = await response.json();
      const expiresAt = new Date(Date.now() - 5000).toISOString();
      for (const approval of body.data) if (approval.taskId === "expires-1") approval.expiresAt = expiresAt;
      await route.fulfill({ response, json: body });
    },
  );
  await expect.poll(() => page.title(), { timeout: 15_000 }).toBe("Approvals · Bridge");
  await page.getByRole("link", { name: "Approvals", exact: true }).waitFor();
  // The list of approvals and the link are different elements, which update one after the other.
  await page.getByRole("button", { name: "Approve" }).waitFor({ state: "detached" });
  await bridge.call("POST", "/api/v2/tasks/expires-1/cancel");
  expectQuiet(opened);
});

test("an approval that Bridge rejects names Bridge and the reason on its card and in the timeline", async () => {
  await using quick = await startQuickBridge();
  await quick.bridge.dispatch({ taskId: "unanswered-1", message: "ask" });
  const { page } = await openPage(browser, `${quick.bridge.url}/ui/approvals`, { token: "secret-alpha" });
  await page.getByText("by bridge: No decision was made within 2 s.").waitFor();
  expect(await page.getByRole("button", { name: "Approve" }).count()).toBe(0);
  expect(await page.title()).toBe("Approvals · Bridge");
  await page.goto(`${quick.bridge.url}/ui/tasks/unanswered-1`);
  await page.getByText("Rejected by bridge: No decision was made within 2 s.").waitFor();
});

async function startQuickBridge(): Promise<AsyncDisposable & { bridge: Bridge }> {
  const quick = await startBridge({ BRIDGE_APPROVAL_SECONDS: "2" });
  return { bridge: quick, [Symbol.asyncDispose]: () => quick.close() };
}

test("a page that was open shows who decided elsewhere", async () => {
  const files = [{ path: "site/a.md", content: "a" }];
  await bridge.dispatch({ taskId: "elsewhere-1", message: "ask", metadata: { cwd: "site" }, files });
  const { page } = await open("approvals");
  const card = page.locator(".approval").filter({ hasText: "elsewhere-1" });
  await card.getByText("Directory: site").waitFor();
  const { body } = await bridge.call("GET", "/api/v2/approvals?state=pending");
  const { approvalId } = body.data.find((approval: { taskId: string }) => approval.taskId === "elsewhere-1");
  await bridge.call("POST", `/api/v2/approvals/${approvalId}`, { body: { decision: "reject", reason: "Too risky." } });
  await card.getByText("by alpha: Too risky.").waitFor();
});

test("a token without the scope sees approvals, but no buttons", async () => {
  await bridge.dispatch({ taskId: "reader-1", message: "ask" });
  const { page } = await open("approvals", {}, "secret-reader");
  const card = page.locator(".approval").filter({ hasText: "reader-1" });
  await card.getByText("Your token cannot decide approvals.").waitFor();
  expect(await page.getByRole("button", { name: "Approve" }).count()).toBe(0);
  await bridge.call("POST", "/api/v2/tasks/reader-1/cancel");
});
