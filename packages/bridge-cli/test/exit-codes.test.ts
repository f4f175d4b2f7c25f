import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createInMemoryAdapter } from "../../../test/adapters/in-memory-adapter.ts";
import { findFreePort } from "../../../test/support/find-free-port.ts";
import { type Bridge, startBridge } from "../../../test/support/start-bridge.ts";
import { askUntil } from "../../../test/support/until.ts";
import { accessTo, runCli, startCli } from "./start-cli.ts";

let bridge: Bridge;
beforeAll(async () => {
  const adapter = createInMemoryAdapter({
    provider: "signed-out",
    run: async () => ({ status: "error", errorCode: "authentication_required", error: "Sign in first." }),
  });
  bridge = await startBridge({}, { adapters: [{ provider: adapter.provider, adapter }] });
});
afterAll(() => bridge.close());

const run = (args: readonly string[]) => runCli(args, { env: accessTo(bridge) });
const dispatch = (...args: string[]) => run(["dispatch", "--provider", "memory", "--agent", "writer", ...args]);
const taskIn = (taskId: string, condition: (task: Record<string, unknown>) => boolean) =>
  askUntil(
    () => bridge.call("GET", `/api/v2/tasks/${taskId}`),
    ({ status, body }) => status === 200 && condition(body),
  );

describe("bridge exits with code", () => {
  test("0 if the task completed", async () => {
    expect(await dispatch("Hello.")).toMatchObject({ exitCode: 0, stdout: "Hello." });
  });

  test("1 if the task failed", async () => {
    expect(await dispatch("fail")).toMatchObject({
      exitCode: 1,
      stdout: "",
      stderr: expect.stringMatching(/failed: model_error .*\nIt failed\.$/),
    });
  });

  test("2 if an argument is wrong", async () => {
    expect(await run(["tasks", "--limit", "none"])).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("'-n, --limit <n>' argument 'none' is invalid. It must be an integer from 1 to 100000."),
    });
  });

  test("2 if Bridge rejects a field, and names the option", async () => {
    expect(await dispatch("--label", "a b=c", "Hello.")).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("--label (labels.a b):"),
    });
  });

  test("3 if Bridge cannot be reached", async () => {
    const url = `http://127.0.0.1:${await findFreePort()}`;
    const { exitCode, stderr } = await runCli(["tasks"], { env: { BRIDGE_URL: url, BRIDGE_TOKEN: "x" } });
    expect({ exitCode, stderr }).toEqual({
      exitCode: 3,
      stderr: expect.stringMatching(/^bridge: Cannot reach Bridge at .*ECONNREFUSED.*\nThe address is from BRIDGE_URL\. Start Bridge/),
    });
  });

  test("4 if the token is wrong, and names its source", async () => {
    const { exitCode, stderr } = await runCli(["tasks"], { env: { BRIDGE_URL: bridge.url, BRIDGE_TOKEN: "wrong-token" } });
    expect({ exitCode, stderr }).toEqual({ exitCode: 4, stderr: expect.stringContaining("rejected the token from BRIDGE_TOKEN") });
    expect(stderr).not.toContain("wrong-token");
  });

  test("4 if the token lacks a scope, and names its scopes", async () => {
    const env = accessTo(bridge, "reader");
    expect(await runCli(["dispatch", "--agent", "writer", "--provider", "memory", "Hello."], { env })).toMatchObject({
      exitCode: 4,
      stderr: expect.stringMatching(
        /scope "dispatch"\. Use another token, or .* the token "reader"\.\nThe token "reader" from BRIDGE_TOKEN has only: read\.$/,
      ),
    });
  });

  test("4 if there is no token", async () => {
    expect(await runCli(["tasks"], { env: { BRIDGE_URL: bridge.url } })).toMatchObject({
      exitCode: 4,
      stderr: expect.stringContaining("brg profile add <name> --url"),
    });
  });

  test("5 if the task does not exist, and names it", async () => {
    expect(await run(["wait", "no-such-task"])).toMatchObject({ exitCode: 5, stderr: expect.stringContaining('Task "no-such-task":') });
  });

  test("6 if the id belongs to another task", async () => {
    expect(await dispatch("--id", "conflict-1", "Hello.")).toMatchObject({ exitCode: 0 });
    expect(await dispatch("--id", "conflict-1", "Other.")).toMatchObject({ exitCode: 6 });
  });

  test("7 if the task was canceled", async () => {
    await bridge.dispatch({ taskId: "canceled-1", message: "wait" });
    expect(await run(["cancel", "canceled-1"])).toMatchObject({ exitCode: 0, stdout: expect.stringContaining("cancelled") });
    expect(await run(["wait", "canceled-1"])).toMatchObject({ exitCode: 7 });
  });

  test("8 if a person must sign the runtime in", async () => {
    expect(await run(["dispatch", "--provider", "signed-out", "--agent", "writer", "Hello."])).toMatchObject({ exitCode: 8 });
  });

  test("124 if the wait ends while the task waits for a decision, which a message names", async () => {
    await bridge.dispatch({ taskId: "asking-1", message: "ask", approvals: "ask", profile: "modify" });
    await taskIn("asking-1", ({ waitingOn }) => waitingOn === "approval");
    const { exitCode, stderr } = await run(["wait", "--timeout", "0", "asking-1"]);
    expect({ exitCode, stderr }).toEqual({ exitCode: 124, stderr: expect.stringContaining("waits for an approval: brg approvals") });
  });

  test("124 if the wait is over and the task continues", async () => {
    const { exitCode, stderr } = await dispatch("--id", "long-1", "--wait", "0", "wait");
    expect({ exitCode, stderr }).toEqual({ exitCode: 124, stderr: expect.stringContaining("brg wait long-1") });
    expect((await taskIn("long-1", () => true)).body.state).not.toBe("cancelled");
    expect(await run(["wait", "--timeout", "0", "long-1"])).toMatchObject({ exitCode: 124 });
  });

  test("130 after Ctrl-C", async () => {
    await bridge.dispatch({ taskId: "endless-1", message: "wait" });
    const { exited, signal, stdout } = await startCli(["tail", "endless-1"], { env: accessTo(bridge) });
    await expect.poll(stdout).toContain("execution.started");
    signal("SIGINT");
    expect(await exited).toBe(130);
    expect((await taskIn("endless-1", () => true)).body.state).toBe("running");
  });
});
