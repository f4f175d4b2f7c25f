import { existsSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { execa } from "execa";
import { expect, onTestFinished, test } from "vitest";
import { compileCache } from "../harness/compile-cache.ts";
import { startBridge } from "../support/start-bridge.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const main = path.resolve(import.meta.dirname, "../../src/main.ts");

/** Starts Bridge on a port that is in use. */
async function startOn(port: number) {
  const cwd = await temporaryDirectory();
  const env = { ...compileCache, PATH: "/usr/bin:/bin", HOME: cwd, BRIDGE_PORT: String(port) };
  const { exitCode, stderr } = await execa(process.execPath, [main], { cwd, env, extendEnv: false, reject: false });
  return { exitCode, stderr, hasData: existsSync(path.join(cwd, "data")) };
}

test("a start on the port of another Bridge names it, and creates and prints no token", async () => {
  const bridge = await startBridge();
  onTestFinished(() => bridge.close());
  const { exitCode, stderr, hasData } = await startOn(bridge.port);
  expect([exitCode, hasData]).toEqual([1, false]);
  expect(stderr).toContain(`Bridge 0.1.0 already answers at ${bridge.url}`);
  expect(stderr).not.toContain("bridge_");
});

test("a start on the port of another program reports it", async () => {
  const server = createServer((_, response) => response.end("hello"));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  expect(await startOn(port)).toMatchObject({ exitCode: 1, hasData: false, stderr: expect.stringContaining("another program uses it") });
});
