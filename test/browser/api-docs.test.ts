import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type BridgeProgram, startBridgeProgram } from "../support/bridge-program.ts";
import { type Browser, startBrowser } from "./start-browser.ts";

let browser: Browser;
let bridge: BridgeProgram;
const cleanup = new AsyncDisposableStack();
beforeAll(async () => {
  const dataDir = await mkdtemp(path.join(tmpdir(), "bridge-docs-"));
  cleanup.defer(() => rm(dataDir, { recursive: true, force: true }));
  bridge = await startBridgeProgram(dataDir, { BRIDGE_DATA_DIR: dataDir }, (kill) => cleanup.defer(kill));
  browser = await startBrowser();
  cleanup.defer(() => browser.close());
});
afterAll(() => cleanup.disposeAsync());

test.each(["", "/team/bridge"])("the page /docs authorizes and sends its example dispatch behind the path prefix '%s'", async (prefix) => {
  const { page } = browser;
  const url = prefix === "" ? bridge.url : await startPrefixProxy(prefix);
  const requests: string[] = [];
  const errors: string[] = [];
  page.on("request", (request) => requests.push(request.url()));
  page.on("pageerror", (error) => errors.push(error.message));
  page.on("console", (message) => message.type() === "error" && errors.push(`${message.text()} ${message.location().url}`));
  await page.goto(`${url}/docs`);
  await page.waitForSelector(".opblock-tag");

  expect(await page.title()).toBe("Bridge API");
  expect(await page.$$(".topbar")).toEqual([]);
  const tags = await page.$$eval(".opblock-tag", (elements) => elements.map((element) => element.getAttribute("data-tag")));
  expect(tags).toEqual(expect.arrayContaining(["tasks", "events", "operations"]));
  expect(tags).not.toContain("default");

  await page.click(".btn.authorize");
  const dataDir = String(bridge.log[0]?.["dataDir"]);
  await page.fill(".auth-container input", (await readFile(path.join(dataDir, "token"), "utf8")).trim());
  await page.click(".auth-btn-wrapper .authorize");
  await page.click(".auth-btn-wrapper .btn-done");

  await page.click("#operations-tasks-dispatchTask .opblock-summary-control");
  await page.click("#operations-tasks-dispatchTask .try-out__btn");
  await page.click("#operations-tasks-dispatchTask .execute");
  const status = await page.waitForSelector("#operations-tasks-dispatchTask .live-responses-table tbody .response-col_status");
  expect(await status.textContent()).toMatch(/^202/);

  const outside = requests.filter((target) => !target.startsWith(`${url}/`) && !target.startsWith("data:"));
  expect(outside).toEqual([]);
  expect(errors).toEqual([]);
  page.removeAllListeners();
});

/** Starts a proxy that removes the prefix from the path. Returns its URL with the prefix. */
async function startPrefixProxy(prefix: string): Promise<string> {
  const proxy = createServer((incoming, outgoing) => {
    const target = `${bridge.url}${incoming.url?.replace(prefix, "")}`;
    const forwarded = request(target, { method: incoming.method, headers: incoming.headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    incoming.pipe(forwarded);
  });
  proxy.listen(0, "127.0.0.1");
  await once(proxy, "listening");
  cleanup.defer(async () => {
    proxy.closeAllConnections();
    proxy.close();
  });
  return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}${prefix}`;
}
