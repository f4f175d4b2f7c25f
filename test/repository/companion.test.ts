import { hash } from "node:crypto";
import path from "node:path";
import { execa } from "execa";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startBridgeApp } from "../support/bridge-app.ts";
import { SHARED_TOKEN, shellCommand } from "../support/bridge-program.ts";
import { type Bridge, startBridge } from "../support/start-bridge.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const companionPath = path.resolve(import.meta.dirname, "../../examples/companion/companion.js");

let bridge: Bridge;
beforeAll(async () => {
  bridge = await startBridge();
});
afterAll(() => bridge.close());

function companion(input: string, answers: string) {
  const env = { BRIDGE_URL: bridge.url, BRIDGE_TOKEN: "secret-alpha" };
  return execa(process.execPath, [companionPath, "writer", input, "memory"], { env, input: answers, reject: false });
}

test("the companion prints the text of a run without control characters", async () => {
  const { stdout, stderr, exitCode } = await companion("Fünf\u001b[2J \u202eWorte\n", "");
  expect(stderr).toBe("");
  expect(stdout).toBe("Fünf\\u{1b}[2J \\u{202e}Worte\n\ncompleted: Fünf\\u{1b}[2J \\u{202e}Worte\n");
  expect(exitCode).toBe(0);
});

test.each([
  ["y\n", "completed: approve"],
  ["n\n", "completed: reject"],
  ["", "completed: reject"],
])("the companion asks before a tool call: %j", async (answers, end) => {
  const { stdout, stderr } = await companion("ask", answers);
  expect(stderr).toBe("");
  expect(stdout).toBe(`\nAllow delete {"path":"a.md"}? [y/N]\n\n${end}`);
});

test("the companion reports a failed run", async () => {
  const { stdout, exitCode } = await companion("fail", "");
  expect(stdout).toBe("\nfailed: It failed.");
  expect(exitCode).toBe(1);
});

test("the companion runs on the default adapter, which has no approvals", async () => {
  const settings = { ...shellCommand("cat > /dev/null; printf Words."), BRIDGE_GATEWAY_TOKEN_HASH: hash("sha256", SHARED_TOKEN) };
  const { url } = await startBridgeApp(await temporaryDirectory(), settings);
  const env = { BRIDGE_URL: url, BRIDGE_TOKEN: SHARED_TOKEN };
  const { stdout, stderr } = await execa(process.execPath, [companionPath, "writer", "Write."], { env, input: "", reject: false });
  expect(stderr).toBe("");
  expect(stdout).toBe("Words.\ncompleted: Words.");
});
