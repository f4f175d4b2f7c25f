import { hash } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { expect } from "vitest";
import { type BridgeProgram, startBridgeProgram } from "../../support/bridge-program.ts";
import { findFreePort } from "../../support/find-free-port.ts";
import { openChromium } from "../open-chromium.ts";

/** Tokens of the tests: an operator, another tenant, and one that may only read. */
const tokens = {
  operator: { tenant: "alpha", scopes: ["dispatch", "read", "approve", "manage", "metrics"] },
  stranger: { tenant: "beta", scopes: ["dispatch", "read", "approve", "manage", "metrics"] },
  reader: { tenant: "alpha", scopes: ["read"] },
} as const;
type TokenName = keyof typeof tokens;

/** A page of the console, with what must not happen on it. */
export interface ConsolePage {
  page: Page;
  /** Console messages, uncaught errors and violations of the content security policy. */
  complaints: string[];
  /** Requests to any other host. */
  foreign: string[];
}

/** A Bridge program with an agent, and a browser. */
export interface ConsoleBench {
  bridge: BridgeProgram;
  url: string;
  dataDir: string;
  browser: Browser;
  /** Opens a page in a new browser profile, signed in unless `token` is null. */
  open(path: string, options?: BrowserContextOptions & { token?: TokenName | null }): Promise<ConsolePage>;
  /** Replaces the tokens that Bridge accepts. */
  writeTokens(names: readonly TokenName[]): Promise<void>;
  /** Sends a request with the operator's token. */
  call(method: string, target: string, body?: unknown): Promise<Response>;
  /** Ends Bridge without warning and starts it again on the same port and data. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

/** Starts Bridge with the command adapter, whose agent is the script, and Chromium. */
export async function startConsole(script: string, environment: Record<string, string> = {}): Promise<ConsoleBench> {
  await using cleanup = new AsyncDisposableStack();
  const dataDir = await mkdtemp(path.join(tmpdir(), "bridge-console-"));
  cleanup.defer(() => rm(dataDir, { recursive: true, force: true }));
  const tokensFile = path.join(dataDir, "tokens.json");
  const writeTokens = (names: readonly TokenName[]): Promise<void> =>
    writeFile(tokensFile, JSON.stringify(names.map((name) => ({ name, sha256: hash("sha256", `secret-${name}`), ...tokens[name] }))));
  await writeTokens(["operator", "stranger", "reader"]);
  const agent = path.join(dataDir, "agent.js");
  await writeFile(agent, script);
  const settings = {
    BRIDGE_PORT: String(await findFreePort()),
    BRIDGE_TOKENS_FILE: tokensFile,
    BRIDGE_CALLBACK_RETRIES: "0",
    BRIDGE_DRAIN_SECONDS: "0",
    BRIDGE_COMMAND: JSON.stringify([process.execPath, agent]),
    ...environment,
  };
  const start = (): Promise<BridgeProgram> => startBridgeProgram(dataDir, settings, (kill) => cleanups.push(kill));
  const cleanups: (() => void | Promise<void>)[] = [];
  cleanup.defer(async () => {
    for (const act of cleanups) await act();
  });
  const browser = cleanup.adopt(await openChromium(), (opened) => opened.close());
  const bench: ConsoleBench = {
    bridge: await start(),
    url: `http://127.0.0.1:${settings.BRIDGE_PORT}`,
    ...{ dataDir, browser, writeTokens },
    async open(target, { token = "operator", ...options } = {}) {
      const context = await browser.newContext(options);
      const page = await context.newPage();
      const complaints: string[] = [];
      const foreign: string[] = [];
      page.on("console", (message) => complaints.push(`${message.type()}: ${message.text()}`));
      page.on("pageerror", (error) => complaints.push(error.message));
      page.on("request", (request) => {
        const target = request.url();
        if (!target.startsWith(`${bench.url}/`) && !target.startsWith("data:")) foreign.push(target);
      });
      if (token !== null) await context.addInitScript(`sessionStorage.setItem("bridge.token", "secret-${token}")`);
      await page.goto(`${bench.url}/ui/${target}`);
      return { page, complaints, foreign };
    },
    call: (method, target, body) =>
      fetch(bench.url + target, {
        method,
        headers: { authorization: "Bearer secret-operator", ...(body !== undefined && { "content-type": "application/json" }) },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      }),
    async restart() {
      bench.bridge.signal("SIGKILL");
      await bench.bridge.exited;
      bench.bridge = await start();
    },
    close: () => keeping.disposeAsync(),
  };
  const keeping = cleanup.move();
  return bench;
}

/** Expects that a page requested nothing from other hosts and that its console is empty. */
export function expectQuiet({ complaints, foreign }: ConsolePage): void {
  expect(foreign).toEqual([]);
  expect(complaints).toEqual([]);
}

/** Runs axe-core in the page, and returns the rules of WCAG 2.2 AA that the page violates. */
export async function findAccessibilityViolations(page: Page): Promise<string[]> {
  const source = await readFile(path.resolve(import.meta.dirname, "../../../node_modules/axe-core/axe.min.js"), "utf8");
  // The policy of the page forbids scripts of others, also those of the test, except over the debugging protocol.
  const devtools = await page.context().newCDPSession(page);
  const run = `${source}; axe.run({ runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] }).then(({ violations }) =>
    violations.map(({ id, nodes }) => id + ": " + nodes.map(({ html }) => html).slice(0, 3).join(" | ")))`;
  const { result, exceptionDetails } = await devtools.send("Runtime.evaluate", {
    expression: run,
    awaitPromise: true,
    returnByValue: true,
    allowUnsafeEvalBlockedByCSP: true,
  });
  await devtools.detach();
  if (exceptionDetails !== undefined) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
  return result.value as string[];
}
