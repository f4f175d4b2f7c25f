import { spawn } from "node:child_process";
import { hash } from "node:crypto";
import { once } from "node:events";
import path from "node:path";
import { createInterface } from "node:readline";
import { createBridgeClient } from "bridge-client";
import { expect, onTestFinished, test } from "vitest";
import { shellCommand, startBridgeProgram } from "../support/bridge-program.ts";
import { findFreePort } from "../support/find-free-port.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { openChromium, openContext } from "./open-chromium.ts";

const program = path.resolve(import.meta.dirname, "../../examples/dashboard/server.js");
const token = "secret-of-the-dashboard";

test("the example dashboard shows earlier and live tasks, and those of a time without Bridge, and never gets the token", async () => {
  const dataDir = await temporaryDirectory();
  const port = await findFreePort();
  const settings = { BRIDGE_PORT: String(port), BRIDGE_GATEWAY_TOKEN_HASH: hash("sha256", token), ...shellCommand("echo done") };
  const client = createBridgeClient({ url: `http://127.0.0.1:${port}`, token });
  const run = async (taskId: string): Promise<void> => {
    await client.dispatch({ taskId, agentId: "builder", message: "Build it." });
    await client.waitForTask(taskId);
  };
  const bridge = await startBridgeProgram(dataDir, settings);
  await run("earlier");

  const page = await openDashboard(await startDashboard(`http://127.0.0.1:${port}`));
  const rowsOf = () => page.locator("tbody tr").allInnerTexts();
  const row = (taskId: string, lastEvent: string): string => [taskId, "builder", "completed", lastEvent].join("\t");
  await expect.poll(rowsOf).toEqual([row("earlier", "")]);
  await run("live");
  await expect.poll(rowsOf).toEqual([row("live", "execution.completed"), row("earlier", "")]);

  bridge.signal("SIGTERM");
  await bridge.exited;
  await startBridgeProgram(dataDir, settings);
  // The page may not be connected again yet.
  await run("after-restart");
  await expect.poll(async () => (await rowsOf())[0]).toBe(row("after-restart", "execution.completed"));
  expect(await page.content()).not.toContain(token);
});

/** Starts the backend of the dashboard. Returns its address. */
async function startDashboard(bridgeUrl: string): Promise<string> {
  const env = { PATH: "/usr/bin:/bin", BRIDGE_URL: bridgeUrl, BRIDGE_TOKEN: token, PORT: "0" };
  const child = spawn(process.execPath, [program], { env, stdio: ["ignore", "pipe", "inherit"] });
  const exited = once(child, "exit");
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await exited;
  });
  const [line] = await once(createInterface({ input: child.stdout }), "line");
  return String(line).replace("dashboard on ", "");
}

async function openDashboard(url: string) {
  const browser = await openChromium();
  onTestFinished(() => browser.close());
  const page = await (await openContext(browser)).newPage();
  await page.goto(url);
  return page;
}
