import { existsSync } from "node:fs";
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium } from "playwright-core";
import { scaled } from "../harness/machine.ts";

/** Usual paths of Chromium. CHROMIUM_PATH names another one. */
const places = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
/** Prevents requests of the browser itself, because tests must not need other hosts. */
const browserOptions = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync"];

/** Time limit of each action and wait on an idle machine. */
const LIMIT_MS = 30_000;

/** Starts the installed Chromium without a window, with further options. */
export async function openChromium(...options: string[]): Promise<Browser> {
  const executablePath = process.env["CHROMIUM_PATH"] ?? places.find((place) => existsSync(place));
  if (executablePath === undefined)
    throw new Error("There is no Chromium: install it (Debian: apt-get install chromium), or name one in CHROMIUM_PATH.");
  return chromium.launch({ executablePath, args: [...browserOptions, ...options] });
}

/** Opens a new browser profile, whose time limits scale with the load of the machine. */
export async function openContext(browser: Browser, options: BrowserContextOptions = {}): Promise<BrowserContext> {
  const context = await browser.newContext(options);
  context.setDefaultTimeout(scaled(LIMIT_MS));
  return context;
}
