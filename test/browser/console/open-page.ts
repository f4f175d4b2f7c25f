import { readFile } from "node:fs/promises";
import path from "node:path";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { expect } from "vitest";
import { openContext } from "../open-chromium.ts";

/** A page of the console, with what must not happen on it. */
export interface ConsolePage {
  page: Page;
  /** Console messages, uncaught errors and violations of the content security policy. */
  complaints: string[];
  /** Requests to any other host. */
  foreign: string[];
}

/** Opens a page of the console in a new browser profile, signed in with the token unless it is null. */
export async function openPage(
  browser: Browser,
  url: string,
  { token, ...options }: BrowserContextOptions & { token: string | null },
): Promise<ConsolePage> {
  const context = await openContext(browser, options);
  const page = await context.newPage();
  const complaints: string[] = [];
  const foreign: string[] = [];
  page.on("console", (message) => complaints.push(`${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("request", (request) => {
    const target = request.url();
    if (new URL(target).origin !== new URL(url).origin && !/^(data|blob):/.test(target)) foreign.push(target);
  });
  if (token !== null) await context.addInitScript(`sessionStorage.setItem("bridge.token", ${JSON.stringify(token)})`);
  await page.goto(url);
  return { page, complaints, foreign };
}

/** Expects that a page requested nothing from other hosts and that its console is empty. */
export function expectQuiet({ complaints, foreign }: ConsolePage): void {
  expect(foreign).toEqual([]);
  expect(complaints).toEqual([]);
}

const axe = await readFile(path.resolve(import.meta.dirname, "../../../node_modules/axe-core/axe.min.js"), "utf8");

/** Runs axe-core in the page, and returns the rules of WCAG 2.2 AA that the page violates. */
export async function findAccessibilityViolations(page: Page): Promise<string[]> {
  // The policy of the page forbids scripts of others, also those of the test, except over the debugging protocol.
  const devtools = await page.context().newCDPSession(page);
  const evaluate = async (expression: string): Promise<unknown> => {
    const { result, exceptionDetails } = await devtools.send("Runtime.evaluate", {
      ...{ expression, awaitPromise: true, returnByValue: true, allowUnsafeEvalBlockedByCSP: true },
    });
    if (exceptionDetails !== undefined) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  };
  if ((await evaluate("typeof axe")) === "undefined") await evaluate(`${axe}; null`);
  const violations = await evaluate(`axe.run({
    runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"], resultTypes: ["violations"],
  }).then(({ violations }) => violations.map(({ id, nodes }) => id + ": " + nodes.map(({ html }) => html).slice(0, 3).join(" | ")))`);
  await devtools.detach();
  return violations as string[];
}

/** Returns whether the page is wider than its window. */
export const scrollsSideways = (page: Page): Promise<boolean> =>
  page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth");
