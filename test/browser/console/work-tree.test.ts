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
  const source = path.join(root, "source");
  mkdirSync(source);
  writeFileSync(path.join(source, "a.txt"), "one\n");
  const git = (...args: string[]) => execFileSync("git", ["-C", source, "-c", "user.name=n", "-c", "user.email=e", ...args]);
  git("init", "-q", "-b", "main");
  git("add", "-A");
  git("commit", "-qm", "first");
  const file = path.join(root, "repositories.json");
  writeFileSync(file, JSON.stringify([{ name: "web", source, defaultRef: "main" }]));
  browser = await openChromium();
  bridge = await startBridge({ BRIDGE_WORKSPACES_DIR: path.join(root, "workspaces"), BRIDGE_REPOSITORIES_FILE: file });
});
afterAll(async () => {
  await browser?.close();
  await bridge?.close();
  rmSync(root, { recursive: true });
});

const open = (path: string): Promise<ConsolePage> =>
  openPage(browser, `${bridge.url}/ui/${path}`, { token: "secret-alpha", viewport: { width: 320, height: 700 } });

test("the page of a task shows what it has changed in its work tree, and the commands that apply it", async () => {
  const files = [{ path: "new.txt", content: "new\n" }];
  await bridge.dispatch({ taskId: "tree", agentId: "tree", repository: { name: "web" }, files }, { headers: { prefer: "wait=20" } });
  const opened = await open("tasks/tree");
  const { page } = opened;
  const changes = page.getByRole("region", { name: "Changes" });
  await changes.getByText("1 commit, 1 file, +1 −0").waitFor();
  await changes.getByText("Commands that apply").click();
  const text = (await changes.textContent())?.replaceAll(/\s+/g, " ");
  expect(text).toContain("on the branch bridge/tree, from");
  expect(text).toContain("brg apply tree");
  expect(text).toContain("/api/v2/tasks/tree/patch");
  await page.getByRole("button", { name: "Show the diff" }).click();
  await page.getByRole("table", { name: "Changes of new.txt" }).waitFor();
  expect(await findAccessibilityViolations(page)).toEqual([]);
  expect(await scrollsSideways(page)).toBe(false);
  expectQuiet(opened);
});

test("the form of a new task has fields for the repository, if there is one", async () => {
  const opened = await open("new");
  const { page } = opened;
  await page.getByLabel("Repository", { exact: true }).selectOption("web");
  await page.getByLabel("Branch of the task").fill("bridge/mine");
  const command = page.locator("pre").first();
  await expect.poll(() => command.textContent()).toContain('"repository":{"name":"web","branch":"bridge/mine"}');
  expect(await findAccessibilityViolations(page)).toEqual([]);
  expectQuiet(opened);
});
