import { mkdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import type { Page } from "playwright-core";
import { openChromium } from "../open-chromium.ts";
import { startScriptedBridge } from "./scripted-bridge.ts";

/** Where the pages appear to be served, so that no picture contains the port of this run. */
const ORIGIN = "http://localhost:8787";
/** Port of the receivers, which the pictures show. */
const RECEIVER_PORT = 8080;
const DIRECTORY = path.resolve(import.meta.dirname, "../../../docs/images/console");
const SIZE = { width: 1280, height: 800 };
const MAX_BYTES = 60_000;
/** Qualities of the pictures, best first: the first one that fits is used. */
const QUALITIES = [85, 70, 55, 40];

/** Budgets of which the scripted tasks spend different shares. */
const BUDGETS = [
  { name: "all", scope: { tenant: "full" }, per: "month", maxCostUsd: 40, whenReached: "wait" },
  { name: "shop", scope: { tenant: "full", "label.team": "shop" }, per: "month", maxCostUsd: 25, whenReached: "wait" },
  { name: "each", scope: { tenant: "full" }, per: "task", maxCostUsd: 10 },
];

interface Shot {
  name: string;
  path: string;
  /** A text that the page shows after it has loaded. */
  text: string;
  prepare?: (page: Page) => Promise<unknown>;
}

const shots: readonly Shot[] = [
  { name: "overview", path: "", text: "old-branches" },
  { name: "tasks", path: "tasks?root=*", text: "draft-talk" },
  { name: "task", path: "tasks/replace-moment", text: "Turn 3" },
  { name: "failed", path: "tasks/upgrade-types", text: "Turn 3" },
  {
    ...{ name: "council", path: "tasks/login-review", text: "Round 2" },
    prepare: (page) => page.locator(".findings summary").first().click(),
  },
  { name: "approvals", path: "approvals", text: "unused-files" },
  { name: "callbacks", path: "callbacks", text: "check-links" },
  { name: "webhooks", path: "webhooks?name=oncall", text: "unused-files" },
  {
    ...{ name: "adapters", path: "adapters", text: "The program opencode is not installed." },
    async prepare(page) {
      // The council was checked before its runtime.
      await page.getByRole("region", { name: "bridge-claude" }).getByRole("button", { name: "Check now" }).click();
      await page.getByText("The first check is under way.").waitFor({ state: "detached" });
    },
  },
  { name: "usage", path: "usage", text: "auditor" },
  { name: "budgets", path: "usage", text: "within its maximum" },
  { name: "new", path: "new?from=release-notes", text: "What the dispatch would do" },
];

await main();

/** Takes a picture of each page in both themes. */
async function main(): Promise<void> {
  await using cleanup = new AsyncDisposableStack();
  const bridge = cleanup.adopt(await startScriptedBridge({ receiverPort: RECEIVER_PORT, budgets: BUDGETS }), (started) => started.close());
  const mapping = `--host-resolver-rules=MAP ${new URL(ORIGIN).host} ${new URL(bridge.url).host}`;
  const browser = cleanup.adopt(await openChromium(mapping), (opened) => opened.close());
  await rm(DIRECTORY, { recursive: true, force: true });
  await mkdir(DIRECTORY, { recursive: true });

  const page = await browser.newPage({ viewport: SIZE, locale: "en-US", reducedMotion: "reduce" });
  await page.goto(`${ORIGIN}/ui/`);
  await page.getByLabel("Token").waitFor();
  await shoot(page, "sign-in");
  await page.getByLabel("Token").fill(bridge.fullToken);
  await page.keyboard.press("Enter");
  for (const { name, path: target, text, prepare } of shots) {
    await page.getByText("live", { exact: true }).waitFor();
    await page.goto(`${ORIGIN}/ui/${target}`);
    await page.locator("main").getByText(text).first().waitFor();
    await page.getByText("Loading …").waitFor({ state: "detached" });
    await prepare?.(page);
    // A click scrolls its target into view.
    await page.evaluate("scrollTo(0, 0)");
    await shoot(page, name);
  }
}

async function shoot(page: Page, name: string): Promise<void> {
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    // The chart is drawn again in the next frames.
    await page.evaluate("new Promise((resolve) => setTimeout(resolve, 500))");
    const picture = await capture(page);
    await writeFile(path.join(DIRECTORY, `${name}-${colorScheme}.webp`), picture);
    console.log(`${name}-${colorScheme}.webp  ${(picture.length / 1000).toFixed(0)} kB`);
  }
}

/** Returns the picture in the best quality that fits. */
async function capture(page: Page): Promise<Buffer> {
  const devtools = await page.context().newCDPSession(page);
  for (const quality of QUALITIES) {
    const { data } = await devtools.send("Page.captureScreenshot", { format: "webp", quality });
    const picture = Buffer.from(data, "base64");
    if (picture.length < MAX_BYTES) return picture;
  }
  throw new Error(`The picture of ${page.url()} is larger than ${MAX_BYTES} bytes.`);
}
