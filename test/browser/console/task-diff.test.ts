import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Bridge, startBridge } from "../../support/start-bridge.ts";
import { openChromium } from "../open-chromium.ts";
import { type ConsolePage, expectQuiet, findAccessibilityViolations, openPage, scrollsSideways } from "./open-page.ts";

let browser: Browser;
let bridge: Bridge;
let root: string;
beforeAll(async () => {
  root = mkdtempSync(path.join(tmpdir(), "bridge-test-"));
  browser = await openChromium();
  bridge = await startBridge({ BRIDGE_WORKSPACES_DIR: root });
});
afterAll(async () => {
  await browser?.close();
  await bridge?.close();
  rmSync(root, { recursive: true });
});

/** Creates a repository with one commit as the workspace of an agent, and runs a task in it. */
async function runInRepository(agentId: string): Promise<string> {
  const workspace = path.join(root, "alpha", agentId);
  mkdirSync(workspace, { recursive: true });
  writeFileSync(path.join(workspace, "a.txt"), "one\ntwo\n");
  const git = (...args: string[]) => execFileSync("git", ["-C", workspace, "-c", "user.name=n", "-c", "user.email=e", ...args]);
  git("init", "-q");
  git("add", "-A");
  git("commit", "-qm", "first");
  await bridge.dispatch({ taskId: agentId, agentId }, { headers: { prefer: "wait=20" } });
  return workspace;
}

const open = (path: string): Promise<ConsolePage> =>
  openPage(browser, `${bridge.url}/ui/${path}`, { token: "secret-alpha", viewport: { width: 320, height: 700 } });

test("the page of a task shows its diff on demand, as text with signs and line numbers", async () => {
  const workspace = await runInRepository("diff");
  const opened = await open("tasks/diff");
  const { page } = opened;
  await page.getByRole("button", { name: "Show the diff" }).click();
  await page.getByText("No changes.").waitFor();

  writeFileSync(path.join(workspace, "a.txt"), `one\n<img src="//x.invalid/p"> \u202e${"long ".repeat(100)}\n`);
  await page.getByRole("button", { name: "Compare again" }).click();
  const table = page.getByRole("table", { name: "Changes of a.txt" });
  const rows = async () =>
    (await table.getByRole("row").all()).map(async (row) =>
      (await row.getByRole("cell").allTextContents()).map((text) => text.slice(0, 36)),
    );
  await table.waitFor();
  expect(await Promise.all(await rows())).toEqual([
    ["", "", "", "@@ -1,2 +1,2 @@"],
    ["1", "1", " ", "one"],
    ["2", "", "-", "two"],
    ["", "2", "+", '<img src="//x.invalid/p"> ⟨U+202E⟩lo'],
  ]);
  expect(await findAccessibilityViolations(page)).toEqual([]);
  expect(await scrollsSideways(page)).toBe(false);
  expectQuiet(opened);
});

test("a long diff is rendered in parts", async () => {
  const workspace = await runInRepository("long-diff");
  writeFileSync(path.join(workspace, "b.txt"), "line\n".repeat(20_000));
  const { page } = await open("tasks/long-diff");
  await page.getByRole("button", { name: "Show the diff" }).click();
  const rows = page.getByRole("table", { name: "Changes of b.txt" }).locator("tr");
  const more = page.getByRole("button", { name: "Show more" });
  await more.waitFor();
  expect(await rows.count()).toBeLessThanOrEqual(1_000);
  await more.click();
  await expect.poll(() => rows.count()).toBeGreaterThan(1_000);
  expect(await rows.count()).toBeLessThanOrEqual(6_000);
});

test("the reason is shown when a task has no diff", async () => {
  await bridge.dispatch({ taskId: "no-diff", agentId: "no-diff" }, { headers: { prefer: "wait=20" } });
  const { page } = await open("tasks/no-diff");
  await page.getByRole("button", { name: "Show the diff" }).click();
  await page.getByText("Bridge recorded no commit when the task started.").waitFor();
});
