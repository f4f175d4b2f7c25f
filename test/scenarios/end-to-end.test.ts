import { readdirSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { Webhook } from "standardwebhooks";
import { describe, expect, onTestFinished, test } from "vitest";
import { startBridgeApp } from "../support/bridge-app.ts";
import { shellCommand, startBridgeProgram, taskInState } from "../support/bridge-program.ts";
import { startReceiver } from "../support/start-receiver.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;

describe("a dispatched task", () => {
  test("a dispatched task runs in a real program, and its signed callback arrives once", async () => {
    const receiver = await startReceiver();
    onTestFinished(receiver.close);
    const dataDir = await temporaryDirectory();
    const bridge = await startBridgeProgram(dataDir, {
      ...shellCommand(
        `echo "working in $(basename "$PWD")"; echo '{"type":"result","output":"done","usage":{"inputTokens":3,"outputTokens":2}}'`,
      ),
      BRIDGE_CALLBACK_SECRETS: secret,
    });
    const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    const body = { taskId: "t1", agentId: "writer", message: "go", callbackUrl: receiver.origin, metadata: { step: 7 } };
    const accepted = await bridge.call("POST", "/api/v2/dispatch", body, { traceparent });
    expect([accepted.status, accepted.headers.get("location")]).toEqual([202, "/api/v2/tasks/t1"]);
    await expect.poll(() => receiver.posts.length).toBe(1);
    const [post] = receiver.posts;
    const verified = new Webhook(secret).verify(String(post?.body), post?.headers as Record<string, string>);
    expect(verified).toMatchObject({
      taskId: "t1",
      agentId: "writer",
      provider: "command",
      status: "ok",
      output: "done",
      usage: { inputTokens: 3 },
      metadata: { step: 7 },
    });
    expect(post?.headers).toMatchObject({ "idempotency-key": "t1", traceparent });
    const repeat = await bridge.call("POST", "/api/v2/dispatch", body);
    expect([repeat.status, repeat.headers.get("idempotent-replayed")]).toEqual([202, "true"]);
    const callbackOf = async () => ((await taskInState(bridge, "t1", "completed")) as { callback: unknown }).callback;
    await expect.poll(callbackOf).toMatchObject({ state: "delivered", attempts: 1 });
    expect(receiver.posts).toHaveLength(1);
    expect(readdirSync(path.join(dataDir, "tmp"))).toEqual([]);
  });

  test("a dispatched task is separate from another tenant's task with the same id, down to the runtime", async () => {
    const dataDir = await temporaryDirectory();
    const sha256 = async (text: string) =>
      Buffer.from(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text))).toString("hex");
    const entry = async (tenant: string) => ({
      name: tenant,
      tenant,
      sha256: await sha256(`token-of-${tenant}`),
      scopes: ["dispatch", "read"],
    });
    await writeFile(path.join(dataDir, "tokens.json"), JSON.stringify([await entry("acme"), await entry("default")]));
    const bridge = await startBridgeApp(dataDir, {
      ...shellCommand('echo "$BRIDGE_TASK_ID $PWD"; sleep 0.2'),
      BRIDGE_TOKENS_FILE: path.join(dataDir, "tokens.json"),
    });
    const outputs = await Promise.all(
      ["acme", "default"].map(async (tenant) => {
        const headers = { authorization: `Bearer token-of-${tenant}`, prefer: "wait=10" };
        const answer = await bridge.call("POST", "/api/v2/dispatch", { taskId: "same", agentId: "a", message: "x" }, headers);
        return ((await answer.json()) as { result: { output: string } }).result.output;
      }),
    );
    expect(outputs).toEqual([`acme/same ${dataDir}/workspaces/acme/a\n`, `same ${dataDir}/workspaces/default/a\n`]);
  });
});
