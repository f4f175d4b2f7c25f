import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createInMemoryAdapter } from "../../adapters/in-memory-adapter.ts";
import { type Bridge, startBridge } from "../../support/start-bridge.ts";
import { openChromium } from "../open-chromium.ts";
import { type ConsolePage, findAccessibilityViolations, openPage } from "./open-page.ts";

const HEIGHTS = [400, 500, 600, 700, 800, 900];
const WIDTHS = [320, 480, 768, 1280];

const filler = (count: number): string => Array.from({ length: count }, (_, index) => `echo step ${index} of the release`).join("\n");
const inputs: readonly unknown[] = [
  { command: `BEGIN\n${filler(80)}\nEND` },
  { command: "BEGIN && rm -rf node_modules && END" },
  { command: `BEGIN ${"--flag=value ".repeat(300)}END`, description: "" },
  { command: `BEGIN\n${filler(30)}`, description: `${filler(3)}\nEND` },
  `BEGIN\n${filler(200)}\nEND`,
];

const asking = createInMemoryAdapter({
  provider: "asking",
  async run({ taskId, message }, _emit, _signal, requestApproval) {
    const input = inputs[Number(message)];
    const { decision } = await requestApproval({ taskId, toolCallId: "call-1", toolName: "run", input });
    return { output: decision };
  },
});

let browser: Browser;
let bridge: Bridge;
beforeAll(async () => {
  browser = await openChromium();
  bridge = await startBridge({ BRIDGE_MAX_CONCURRENT: "10" }, { adapters: [{ provider: "asking", adapter: asking }] });
  for (let number = 0; number < inputs.length; number += 1)
    await bridge.dispatch({ provider: "asking", taskId: `asked-${number}`, message: String(number) });
});
afterAll(async () => {
  await browser?.close();
  await bridge?.close();
});

const open = (path: string): Promise<ConsolePage> => openPage(browser, `${bridge.url}/ui/${path}`, { token: "secret-alpha" });

/**
 * Scrolls through the page. Returns where an Approve button is in view without both ends of its input, and how many buttons came into view.
 */
const SCROLL_THROUGH = `(async () => {
  const hidden = [];
  const approvable = new Set();
  const frame = () => new Promise(requestAnimationFrame);
  const isVisible = (card, text) => {
    const nodes = document.createTreeWalker(card, NodeFilter.SHOW_TEXT);
    for (let node = nodes.nextNode(); node !== null; node = nodes.nextNode()) {
      const index = node.data.indexOf(text);
      if (index < 0) continue;
      const range = document.createRange();
      range.setStart(node, index);
      range.setEnd(node, index + text.length);
      const rects = [...range.getClientRects()];
      if (rects.every(({ x, y, width, height }) => {
        const hit = document.elementFromPoint(x + width / 2, y + height / 2);
        return y >= 0 && y + height <= innerHeight && hit === node.parentElement;
      })) return true;
    }
    return false;
  };
  const end = document.documentElement.scrollHeight;
  for (let y = 0; y < end; y += 211) {
    scrollTo(0, y);
    await frame();
    await frame();
    for (const [index, button] of document.querySelectorAll("bridge-decision button.primary").entries()) {
      const { top, bottom } = button.getBoundingClientRect();
      if (!button.textContent.includes("Approve") || bottom <= 0 || top >= innerHeight) continue;
      const card = button.closest(".approval, .entry");
      if (isVisible(card, "BEGIN") && isVisible(card, "END")) approvable.add(index);
      else hidden.push([index, y]);
    }
  }
  return { hidden, approvable: approvable.size };
})()`;

/** Resolves when the page has painted the scrolled content, and its buttons have changed. */
const SCROLL_TO_END = `new Promise((resolve) => {
  scrollTo(0, document.documentElement.scrollHeight);
  requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(resolve)));
})`;

test("an Approve button is in view only with the first and the last line of its input", async () => {
  const { page } = await open("approvals");
  await page.getByRole("heading", { name: `${inputs.length} waiting` }).waitFor();
  for (const width of WIDTHS)
    for (const height of HEIGHTS) {
      await page.setViewportSize({ width, height });
      const { hidden } = (await page.evaluate(SCROLL_THROUGH)) as { hidden: unknown[] };
      expect(hidden, `${width} x ${height}`).toEqual([]);
    }
});

test("every input can be approved in a small window, after its button has shown it", async () => {
  const { page } = await open("approvals");
  await page.setViewportSize({ width: 320, height: 400 });
  await page.getByRole("heading", { name: `${inputs.length} waiting` }).waitFor();
  for (let number = 0; number < inputs.length; number += 1) {
    await page.evaluate(SCROLL_TO_END);
    const card = page.locator(".approval").filter({ hasText: `asked-${number}` });
    const button = card.locator("button.primary");
    // In one turn of the page: a click of Playwright scrolls first, which can turn the button into the one that approves.
    const showInput = (): Promise<string> =>
      button.evaluate((element) => {
        const { textContent } = element;
        if (textContent === "Show the input") element.click();
        return textContent;
      });
    await expect.poll(showInput).toContain("Approve");
  }
  expect(await findAccessibilityViolations(page)).toEqual([]);
});

test.each(inputs.map((_, number) => number))("the page of task %d shows Approve only with both ends of the input", async (number) => {
  const { page } = await open(`tasks/asked-${number}`);
  await page.getByRole("button", { name: "Reject" }).waitFor();
  for (const [width, height] of [
    [320, 400],
    [768, 600],
    [1280, 900],
  ] as const) {
    await page.setViewportSize({ width, height });
    const { hidden, approvable } = (await page.evaluate(SCROLL_THROUGH)) as { hidden: unknown[]; approvable: number };
    expect(hidden, `${width} x ${height}`).toEqual([]);
    expect(approvable, `${width} x ${height}`).toBe(1);
  }
});

test("a button that the page has moved away from its input shows the input instead of approving", async () => {
  const { page } = await open("approvals");
  const button = page.locator(".approval").filter({ hasText: "asked-0" }).locator("button.primary");
  await button.waitFor();
  await button.scrollIntoViewIfNeeded();
  await page.locator(".approval").filter({ hasText: "asked-0" }).getByRole("button", { name: "Approve" }).waitFor();
  // In one turn of the event loop, so that the browser has not painted the scrolled page when the button is pressed.
  await page.evaluate(`(() => {
    const button = document.querySelector("bridge-decision button.primary");
    button.scrollIntoView({ block: "start" });
    button.click();
  })()`);
  expect((await bridge.call("GET", "/api/v2/approvals?state=pending&taskId=asked-0")).body.data).toHaveLength(1);
  await page.locator(".approval").filter({ hasText: "asked-0" }).getByRole("button", { name: "Approve" }).waitFor();
});

test("a key approves only when it is pressed again", async () => {
  await bridge.dispatch({ provider: "asking", taskId: "key-1", message: "1" });
  const { page } = await open("approvals");
  const card = page.locator(".approval").filter({ hasText: "key-1" });
  await card.waitFor();
  const decisions: string[] = [];
  page.on("request", (request) => {
    if (request.method() === "POST" && request.url().includes("/approvals/")) decisions.push(request.url());
  });
  await card.focus();
  await page.keyboard.press("a");
  await card.getByText("again to approve").waitFor();
  await page.keyboard.press("Escape");
  await card.getByText("again to approve").waitFor({ state: "detached" });
  await page.keyboard.press("a");
  await page.keyboard.press("r");
  await card.getByText("again to reject").waitFor();
  await page.keyboard.press("k");
  await page.keyboard.press("j");
  // A key that is held down is one press.
  await page.keyboard.down("a");
  await page.keyboard.down("a");
  await page.keyboard.down("a");
  await page.keyboard.up("a");
  await card.getByText("again to approve").waitFor();
  expect(decisions).toEqual([]);
  await page.keyboard.press("a");
  await card.getByText("approved by alpha").waitFor();
  expect(decisions).toHaveLength(1);
});
