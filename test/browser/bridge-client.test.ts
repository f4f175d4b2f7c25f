import type { BridgeClient, BridgeEvent, BridgeSocket, verifyCallback } from "bridge-client";
import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Address, surviveTwoRestarts } from "../../packages/bridge-client/test/two-restarts.ts";
import { startBridge } from "../support/start-bridge.ts";
import { type Browser, startBrowser } from "./start-browser.ts";

/** The functions that the page defines. */
declare const connect: (address: Address) => BridgeClient;
declare const connectSocket: (address: Address) => Promise<BridgeSocket>;
declare const follow: (address: Address, taskId: string) => void;
declare const seen: { task: BridgeEvent[]; all: BridgeEvent[] };
declare const ended: Promise<unknown>;
/** What a test keeps in the page: its request, and what stops it. */
declare let asking: Promise<unknown>;
declare let stopping: AbortController;
declare const verify: typeof verifyCallback;

let browser: Browser;
beforeAll(async () => {
  browser = await startBrowser();
});
afterAll(() => browser?.close());

test("a browser follows a task across two restarts of Bridge without losing or repeating an event", async () => {
  const { page, origin } = browser;
  await surviveTwoRestarts(
    async (address, taskId) => {
      await page.evaluate(([where, which]) => follow(where, which), [address, taskId] as const);
      return {
        seen: () => page.evaluate(() => seen.task.map(({ id }) => id)),
        ended: page.evaluate(() => ended.then(() => seen)),
      };
    },
    { BRIDGE_CORS_ORIGINS: origin },
  );
});

test("a page of a listed origin can dispatch, and can read error responses", async () => {
  const bridge = await startBridge({ BRIDGE_CORS_ORIGINS: browser.origin });
  try {
    const answers = await browser.page.evaluate(
      async (address) => {
        const client = connect(address);
        const task = { provider: "memory", agentId: "writer", message: "Hello, page." };
        const { taskId } = await client.dispatch(task);
        const done = await client.waitForTask(taskId);
        const again = await client.dispatch({ ...task, taskId });
        const refused = await client.getTask("missing").catch(({ code, requestId }) => ({ code, requestId }));
        return { output: done.result?.output, replayed: again.replayed, refused };
      },
      { url: bridge.url, token: "secret-alpha" },
    );
    expect(answers).toEqual({
      output: "Hello, page.",
      replayed: true,
      refused: { code: "not_found", requestId: expect.stringMatching(/^[0-9a-f-]{36}$/) },
    });
  } finally {
    await bridge.close();
  }
});

test("a page starts a run, follows it and approves a tool call over the WebSocket", async () => {
  const bridge = await startBridge({ BRIDGE_CORS_ORIGINS: browser.origin });
  try {
    const outcome = await browser.page.evaluate(
      async (address) => {
        const client = await connectSocket(address);
        const { runId } = await client.run({ provider: "memory", agent: "writer", input: "ask", approvals: "ask" });
        const types: string[] = [];
        for await (const event of client.follow(runId)) {
          types.push(event.type);
          if (event.type === "tool.approval_requested") await client.approve(event.data);
        }
        const { phase, result } = await client.result(runId);
        client.close();
        return { first: types[0], last: types.at(-1), phase, output: result.output };
      },
      { url: bridge.url, token: "secret-alpha" },
    );
    expect(outcome).toEqual({ first: "execution.started", last: "execution.completed", phase: "completed", output: "approve" });
  } finally {
    await bridge.close();
  }
});

test("the browser rejects requests of a page of any other origin", async () => {
  const bridge = await startBridge({ BRIDGE_CORS_ORIGINS: "https://app.example" });
  try {
    const complaint = browser.page.waitForEvent("console", (message) => message.type() === "error");
    const address = { url: bridge.url, token: "secret-alpha" };
    await browser.page.evaluate((where) => {
      stopping = new AbortController();
      asking = connect(where)
        .getTask("missing", { signal: stopping.signal })
        .catch(({ name }) => name);
    }, address);
    expect((await complaint).text()).toContain("blocked by CORS policy");
    // The client repeats a request without an answer.
    const outcome = await browser.page.evaluate(() => {
      stopping.abort();
      return asking;
    });
    expect(outcome).toBe("AbortError");
  } finally {
    await bridge.close();
  }
});

test("the client verifies callbacks with the cryptography of the browser", async () => {
  const secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
  const body = JSON.stringify({ taskId: "report-7", output: "Fünf Dateien" });
  const now = new Date();
  const headers = {
    "webhook-id": "msg_1",
    "webhook-timestamp": String(Math.floor(now.getTime() / 1000)),
    "webhook-signature": new Webhook(secret).sign("msg_1", now, body),
  };
  const judge = (text: string) =>
    browser.page.evaluate(([given, came, known]) => verify(given, came, [known]), [headers, text, secret] as const);
  expect(await judge(body)).toEqual(JSON.parse(body));
  expect(await judge(`${body} `)).toBeNull();
});
