import type { Browser, BrowserContextOptions } from "playwright-core";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
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

/** The dispatch responds after the end of the task. */
const waiting = { headers: { prefer: "wait=20" } };
const open = (path: string, options: BrowserContextOptions = {}): Promise<ConsolePage> =>
  openPage(browser, `${bridge.url}/ui/${path}`, { ...options, token: "secret-alpha" });

test("the list shows tasks as they start and end, without a reload", async () => {
  const opened = await open("tasks?agentId=live-list");
  const { page } = opened;
  await page.getByText("No task matches.").waitFor();
  await bridge.dispatch({ taskId: "live-1", agentId: "live-list", message: "wait" });
  const row = page.getByRole("row").filter({ has: page.getByRole("link", { name: "live-1" }) });
  await row.getByText("running").waitFor();

  await row.getByRole("checkbox").check();
  await page.getByRole("button", { name: "Cancel 1 task" }).click();
  await page.getByRole("button", { name: "Yes, cancel" }).click();
  await row.getByText("canceled").waitFor();
  expectQuiet(opened);
});

test("filters are applied, stay in the URL, and can be cleared", async () => {
  await bridge.dispatch({ taskId: "filter-ok", agentId: "filter", message: "fine" });
  await bridge.dispatch({ taskId: "filter-bad", agentId: "filter", message: "fail" });
  const { page } = await open("tasks");
  await page.getByRole("link", { name: "filter-ok" }).waitFor();
  await page.getByLabel("Agent", { exact: true }).fill("filter");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Tasks" }).click();
  await page.keyboard.press("/");
  await page.keyboard.type("fai");
  await page.getByLabel("State", { exact: true }).selectOption("failed");
  await page.getByRole("link", { name: "filter-bad" }).waitFor();
  await page.getByRole("link", { name: "filter-ok" }).waitFor({ state: "detached" });
  expect(new URL(page.url()).search).toBe("?agentId=filter&search=fai&state=failed");
  await page.reload();
  await page.getByRole("link", { name: "filter-bad" }).waitFor();
  expect(await page.getByRole("link", { name: "filter-ok" }).count()).toBe(0);
  await page.getByLabel("Agent", { exact: true }).fill("unknown-agent");
  await page.keyboard.press("Enter");
  await page.getByRole("link", { name: "Clear the filters" }).click();
  await page.getByRole("link", { name: "filter-ok" }).waitFor();
  expect(await page.getByRole("searchbox").inputValue()).toBe("");
});

test("the search box finds a task by id, prefix, title, agent and label, without Enter", async () => {
  const [taskId, agentId] = ["5d1f0c7e-found", "box-agent"];
  await bridge.dispatch({ taskId, agentId, message: "fine weather report", labels: { box: "yes" } });
  await bridge.dispatch({ taskId: "box-other", agentId: "other-agent", message: "wait" });
  const { page } = await open("tasks");
  await page.getByRole("link", { name: "box-other" }).waitFor();
  for (const text of [taskId, "5d1f0", "weather", "box-ag", "box=yes"]) {
    await page.getByRole("searchbox").fill(text);
    await page.getByRole("link", { name: "box-other" }).waitFor({ state: "detached" });
    await page.getByRole("link", { name: taskId }).waitFor();
    await page.getByRole("searchbox").fill("");
    await page.getByRole("link", { name: "box-other" }).waitFor();
  }
  await bridge.call("POST", "/api/v2/tasks/box-other/cancel");
});

test("the search box keeps what a person is typing while the list changes", async () => {
  const { page } = await open("tasks?agentId=typing");
  const field = page.getByRole("searchbox");
  await field.pressSequentially("typing-1 ");
  await bridge.dispatch({ taskId: "typing-1", agentId: "typing", message: "fine" });
  await page.getByRole("link", { name: "typing-1" }).waitFor();
  expect(await field.inputValue()).toBe("typing-1 ");
});

test("the search box keeps a letter that a person types between the change of the URL and the next paint", async () => {
  const { page } = await open("tasks?agentId=typing");
  const field = page.getByRole("searchbox");
  await field.waitFor();
  await page.evaluate(`{
    const box = document.querySelector("input[type=search]");
    const replaceState = history.replaceState.bind(history);
    history.replaceState = (...state) => {
      replaceState(...state);
      history.replaceState = replaceState;
      box.value += "g";
      box.dispatchEvent(new InputEvent("input", { bubbles: true }));
    };
  }`);
  await field.fill("typin");
  await page.waitForURL(/search=typing$/);
  expect(await field.inputValue()).toBe("typing");
});

test("views are tabs, and a person saves the filters as a view, which stays in the browser until it is removed", async () => {
  await bridge.dispatch({ taskId: "view-bad", agentId: "view", message: "fail" }, waiting);
  await bridge.dispatch({ taskId: "view-ask", agentId: "view", message: "ask" });
  const { page } = await open("tasks?agentId=view");
  await page.getByRole("link", { name: "view-bad" }).waitFor();
  await page.getByRole("button", { name: "Save this view" }).click();
  await page.keyboard.type("Mine");
  await page.keyboard.press("Enter");
  const tab = page.getByRole("link", { name: "Mine", exact: true });
  await tab.and(page.locator("[aria-current]")).waitFor();

  await page.getByRole("link", { name: "Failed today" }).click();
  await page.getByRole("link", { name: "view-ask" }).waitFor({ state: "detached" });
  await page.getByRole("link", { name: "view-bad" }).waitFor();
  await page.getByRole("link", { name: "Needs approval" }).click();
  await page.getByRole("link", { name: "view-bad" }).waitFor({ state: "detached" });
  await page.getByRole("link", { name: "view-ask" }).waitFor();
  await page.reload();
  await tab.click();
  await page.getByRole("link", { name: "view-bad" }).waitFor();
  expect(new URL(page.url()).search).toBe("?agentId=view");
  await page.getByRole("button", { name: "Remove this view" }).click();
  await tab.waitFor({ state: "detached" });
  await bridge.call("POST", "/api/v2/tasks/view-ask/cancel");
});

test("the list shows when a task started, how long it took, and its labels as filters", async () => {
  await bridge.dispatch({ taskId: "columns-1", agentId: "columns", message: "fine", labels: { team: "columns" } }, waiting);
  await bridge.dispatch({ taskId: "columns-2", agentId: "columns", message: "wait" });
  const { page } = await open("tasks?agentId=columns", { viewport: { width: 1600, height: 800 } });
  const rowOf = (id: string) => page.getByRole("row").filter({ has: page.getByRole("link", { name: id }) });
  await rowOf("columns-1").locator(".duration").getByText("0 s").waitFor();
  expect(await rowOf("columns-1").locator(".started time").getAttribute("title")).toMatch(/\d.* (UTC|\w+\/\w+)/);
  // The duration of a running task grows.
  const duration = rowOf("columns-2").locator(".duration");
  const before = await duration.textContent();
  await expect.poll(() => duration.textContent()).not.toBe(before);
  await page.getByRole("link", { name: "team=columns" }).click();
  await rowOf("columns-2").waitFor({ state: "detached" });
  expect(new URL(page.url()).search).toBe("?label=team%3Dcolumns");
  await bridge.call("POST", "/api/v2/tasks/columns-2/cancel");
});

test("a title is not cut while the window has room", async () => {
  const message = `Explain ${"every word of ".repeat(5)}it`;
  await bridge.dispatch({ taskId: "wide-1", agentId: "wide", message }, waiting);
  const { page } = await open("tasks?agentId=wide", { viewport: { width: 1920, height: 800 } });
  await page.getByRole("link", { name: "wide-1" }).waitFor();
  const cut = `(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(document.querySelector('[data-task="wide-1"] .name a'))`;
  expect(await page.evaluate(cut)).toBe(0);
});

test("tasks are filtered by the time of their creation", async () => {
  await bridge.dispatch({ taskId: "timed-1", agentId: "timed", message: "fine" });
  const { page } = await open("tasks?agentId=timed&root=*");
  await page.getByRole("link", { name: "timed-1" }).waitFor();
  await page.getByText("More filters").click();
  await page.getByLabel("Created before").fill("2020-01-01T00:00");
  await page.getByText("No task matches.").waitFor();
  expect(new URL(page.url()).searchParams.get("createdBefore")).toMatch(/^20(19|20)-.+Z$/);
  await page.keyboard.press("Escape");
  await page.getByRole("link", { name: "Clear the filters" }).click();
  await page.getByRole("link", { name: "timed-1" }).waitFor();
});

test("tasks are filtered by a label, which a link of the usage sets", async () => {
  await bridge.dispatch({ taskId: "labeled-1", agentId: "labeled", message: "fine", labels: { team: "docs" } }, waiting);
  await bridge.dispatch({ taskId: "labeled-2", agentId: "labeled", message: "fine", labels: { team: "web" } }, waiting);
  const { page } = await open("usage?by=label");
  await page.getByRole("link", { name: "team=docs" }).click();
  await page.getByRole("link", { name: "labeled-1" }).waitFor();
  expect(await page.getByRole("link", { name: "labeled-2" }).count()).toBe(0);
  await page.getByText("More filters").click();
  const field = page.getByLabel("Label", { exact: true });
  expect(await field.inputValue()).toBe("team=docs");
  await field.fill("team=web");
  await page.keyboard.press("Enter");
  await page.getByRole("link", { name: "labeled-2" }).waitFor();
  expect(new URL(page.url()).searchParams.get("label")).toBe("team=web");
});

test("the list and the overview name the error of a failed task", async () => {
  await bridge.dispatch({ taskId: "why-1", agentId: "why", message: "fail" }, waiting);
  for (const target of ["tasks?agentId=why", ""]) {
    const { page } = await open(target);
    await page
      .getByText(/(fail|why-1.*) · model_error/)
      .first()
      .waitFor();
  }
});

test("no state and no cost of a task is cut off in a narrow window", async () => {
  const receiver = await startReceiver();
  onTestFinished(receiver.close);
  await bridge.dispatch(
    { taskId: "narrow-row-1", agentId: `narrow-row-${"x".repeat(60)}`, message: "look", callbackUrl: receiver.origin },
    waiting,
  );
  const { page } = await open("tasks?idPrefix=narrow-row", { viewport: { width: 320, height: 640 } });
  const row = page.getByRole("row").filter({ has: page.getByRole("link", { name: "narrow-row-1" }) });
  await row.getByText("delivered").waitFor();
  const countCut = `[...document.querySelectorAll(".task-row[data-index] > :is(:has(.badge), :has(time), .number)")]
    .filter((cell) => cell.scrollWidth > cell.clientWidth).length`;
  expect(await page.evaluate(countCut)).toBe(0);
});

test("a link to an event shows its entry", async () => {
  await bridge.dispatch({ taskId: "linked-1", message: "look" });
  const { page } = await open("tasks/linked-1");
  await page.getByRole("heading", { name: /completed/ }).waitFor();
  const { data } = (await bridge.call("GET", "/api/v2/tasks/linked-1/events")).body;
  const call = data.find(({ type }: { type: string }) => type === "tool.invoked");
  await page.goto(`${bridge.url}/ui/tasks/linked-1?event=${call.id}`);
  await page.locator(".marked").filter({ hasText: "list" }).waitFor();
});

test("the page of a task shows its turns, its tool calls and its result", async () => {
  await bridge.dispatch({ taskId: "look-1", message: "look", metadata: { ticket: 7 } });
  const opened = await open("tasks/look-1");
  const { page } = opened;
  await page.getByRole("heading", { name: /^look .*completed/ }).waitFor();
  await page.getByRole("heading", { name: "Turn 1" }).waitFor();
  const call = page.locator("bridge-call").filter({ hasText: "list" });
  await call.locator("summary").click();
  await call.getByText('"a.md"').waitFor();
  for (const text of ["$0.25", "5 in, 3 out", "small", '{ "ticket": 7 }'])
    await page.getByText(text).filter({ visible: true }).first().waitFor();
  expect(await page.getByText("One file.").count()).toBe(1);
  await page.getByText("The answer, which is shown as the result.").waitFor();
  await expect.poll(() => page.title()).toBe("look · Bridge");
  expectQuiet(opened);
});

test("a tool call that waits is approved on the page of its task", async () => {
  await bridge.dispatch({ taskId: "ask-1", message: "ask" });
  const { page } = await open("tasks/ask-1");
  await page.getByRole("heading", { name: /needs approval/ }).waitFor();
  await page.getByText("auto-rejects in").waitFor();
  await page.getByLabel("Reason").fill("It is fine.");
  await page.getByRole("button", { name: "Approve" }).click();
  await page.getByRole("heading", { name: /completed/ }).waitFor();
  await page.getByText("Approved by alpha: It is fine.").waitFor();
});

test("a failed task shows why, a queued one what it waits for, and an unknown one what may have happened", async () => {
  await bridge.dispatch({ taskId: "fail-1", message: "fail" });
  const failed = await open("tasks/fail-1");
  await failed.page.getByText("model_error").waitFor();
  await failed.page.getByText("It failed.").first().waitFor();

  await bridge.dispatch({ taskId: "narrow-1", provider: "narrow", message: "wait" });
  await bridge.dispatch({ taskId: "narrow-2", provider: "narrow", message: "wait" });
  const queued = await open("tasks/narrow-2");
  await queued.page.getByText("waits for a free slot of the adapter").waitFor();
  await queued.page.getByText("Your tasks for this adapter that were queued before it: 0.").waitFor();
  // The number includes no tasks of other tenants.
  await bridge.dispatch({ taskId: "narrow-foreign", provider: "narrow", message: "wait" }, { token: "beta" });
  await bridge.dispatch({ taskId: "narrow-3", provider: "narrow", message: "wait" });
  const behind = await open("tasks/narrow-3");
  await behind.page.getByText("Your tasks for this adapter that were queued before it: 1.").waitFor();
  await bridge.call("POST", "/api/v2/tasks/narrow-foreign/cancel", { token: "beta" });
  await bridge.call("DELETE", "/api/v2/tasks/narrow-foreign", { token: "beta" });
  await bridge.call("POST", "/api/v2/tasks/narrow-3/cancel");
  await bridge.call("POST", "/api/v2/tasks/narrow-2/cancel");
  await bridge.call("POST", "/api/v2/tasks/narrow-1/cancel");

  const missing = await open("tasks/unknown-1");
  await missing.page.getByText("There is no such task.").waitFor();
});

test("only a running task without a timeline can still get one", async () => {
  await bridge.dispatch({ taskId: "empty-1", message: "wait" });
  const { page } = await open("tasks/empty-1");
  await page.getByText("No text and no tool calls yet.", { exact: true }).waitFor();
  await bridge.call("POST", "/api/v2/tasks/empty-1/cancel");
  await page.getByText("No text and no tool calls.", { exact: true }).waitFor();
});

test("a request without a message has no empty box", async () => {
  await bridge.dispatch({ taskId: "boxes-1", message: "fine" }, waiting);
  const countBoxes = async (removes: boolean) => {
    const { page } = await open("");
    await page.route("**/boxes-1/request", async (route) => {
      const response = await route.fetch();
      const json = await response.json();
      if (removes) delete json.request.message;
      await route.fulfill({ response, json });
    });
    await page.goto(`${bridge.url}/ui/tasks/boxes-1`);
    const request = page.getByRole("region", { name: "Request" });
    await request.getByText("All fields").waitFor();
    return await request.locator("> bridge-long-text").count();
  };
  expect([await countBoxes(false), await countBoxes(true)]).toEqual([1, 0]);
});

test("another tenant sees none of the tasks", async () => {
  await bridge.dispatch({ taskId: "private-1", message: "private" });
  const { page } = await openPage(browser, `${bridge.url}/ui/tasks`, { token: "secret-beta" });
  await page.getByText("No tasks yet.").waitFor();
  expect(await page.getByText("private-1").count()).toBe(0);
});

test("a hostile message stays text, and hidden characters are visible", async () => {
  const hostile = "<img src=x onerror=alert(1)><script>alert(2)</script> [x](javascript:alert(3)) \u001b[31mred \u202egpj.exe";
  await bridge.dispatch({ taskId: "hostile-1", message: hostile });
  const opened = await open("tasks/hostile-1");
  const { page } = opened;
  const request = page.getByRole("region", { name: "Request" });
  await request.getByText("<script>alert(2)</script> [x](javascript:alert(3)) ␛[31mred ⟨U+202E⟩gpj.exe").waitFor();
  expect(await page.locator("main img, main script, main a[href^='javascript']").count()).toBe(0);
  expectQuiet(opened);
});

test("the keys j, k and x move through the list and select", async () => {
  for (const number of [1, 2, 3]) await bridge.dispatch({ taskId: `keys-${number}`, agentId: "keys", message: "wait" });
  const { page } = await open("tasks?agentId=keys");
  await page.getByRole("link", { name: "keys-1" }).waitFor();
  const focused = (): Promise<unknown> => page.evaluate("document.activeElement.textContent");
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await expect.poll(focused).toContain("keys-1");
  await page.keyboard.press("k");
  await expect.poll(focused).toContain("keys-2");
  await page.keyboard.press("x");
  await page.getByRole("button", { name: "Cancel 1 task" }).waitFor();
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: /keys-2/ }).waitFor();
  for (const number of [1, 2, 3]) await bridge.call("POST", `/api/v2/tasks/keys-${number}/cancel`);
});

test("a distant part of the list reuses the elements of the rows, and the focus does not pass to another task", async () => {
  for (let number = 100; number < 200; number += 1)
    await bridge.dispatch({ taskId: `scroll-${number}`, agentId: "scroll", message: "fine" });
  const opened = await open("tasks?agentId=scroll");
  const { page } = opened;
  await page.getByRole("link", { name: "scroll-199" }).focus();
  await page.evaluate(`document.activeElement.closest("[role=row]").isFirst = true`);
  await page.evaluate("scrollTo(0, document.body.scrollHeight)");
  await page.getByRole("link", { name: "scroll-100" }).waitFor();
  expect(await page.getByRole("link", { name: "scroll-199" }).count()).toBe(0);
  expect(await page.evaluate("document.activeElement.localName")).toBe("body");
  expect(await page.evaluate(`[...document.querySelectorAll("[role=row]")].some(({ isFirst }) => isFirst)`)).toBe(true);
  expectQuiet(opened);
});
