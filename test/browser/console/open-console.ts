import { hash } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Browser, BrowserContextOptions } from "playwright-core";
import { type BridgeProgram, startBridgeProgram } from "../../support/bridge-program.ts";
import { findFreePort } from "../../support/find-free-port.ts";
import { openChromium } from "../open-chromium.ts";
import { type ConsolePage, openPage } from "./open-page.ts";

/** Tokens of the tests: an operator, another tenant, and one that may only read. */
const tokens = {
  operator: { tenant: "alpha", scopes: ["dispatch", "read", "approve", "manage", "metrics"] },
  stranger: { tenant: "beta", scopes: ["dispatch", "read", "approve", "manage", "metrics"] },
  reader: { tenant: "alpha", scopes: ["read"] },
} as const;
type TokenName = keyof typeof tokens;

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
    open: (target, { token = "operator", ...options } = {}) =>
      openPage(browser, `${bench.url}/ui/${target}`, { ...options, token: token === null ? null : `secret-${token}` }),
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
