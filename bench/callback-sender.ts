import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { pino } from "pino";
import { Pool } from "undici";
import { createCallbackWorker } from "../src/callbacks/callback-worker.ts";
import { createMetrics } from "../src/metrics.ts";
import { createDnsCache } from "../src/network/dns-cache.ts";
import { limitResponseOverhead } from "../src/network/limit-response-overhead.ts";
import { openStore } from "../src/store/open-sqlite.ts";
import type { DueCallback } from "../src/store/posts/interface.ts";

/**
 * A method to post callbacks, which `callbacks.ts` compares with the others. `request`: `Pool.request` of undici. `post`: Bridge's worker,
 * without the write that settles a callback. `settle`: Bridge's worker with its store. The arguments of this program are the method and the
 * ports of the receivers.
 */
export type Sender = "request" | "post" | "settle";

/** A step of the benchmark. "prepare" stores the callbacks, "send" posts them: `perClient` one after the other by each client. */
export interface Step {
  step: "prepare" | "send";
  clients: number;
  perClient: number;
}

interface CallbackSender {
  /** Prepares callbacks to the receiver of each client. */
  prepare(step: Step): Promise<void>;
  /** Posts the next callback of a client. Resolves when it is delivered and, with the method `settle`, settled durably. */
  send(client: number): Promise<unknown>;
  close(): Promise<unknown>;
}

const BODY = JSON.stringify({ taskId: "bench", status: "ok", output: "Look into it. ".repeat(140) });
const SECRET = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;

const [sender, ...ports] = process.argv.slice(2) as [Sender, ...string[]];
const callbackSender = sender === "request" ? createRequestSender() : createWorkerSender({ settles: sender === "settle" });
process.on("message", async (step: Step) => {
  if (step.step === "prepare") await callbackSender.prepare(step);
  else await sendAll(step);
  process.send?.("done");
});
process.once("SIGTERM", async () => {
  await callbackSender.close();
  // An open channel would keep the process alive.
  process.disconnect();
});

async function sendAll({ clients, perClient }: Step): Promise<void> {
  const run = async (_: unknown, client: number): Promise<void> => {
    for (let sent = 0; sent < perClient; sent += 1) await callbackSender.send(client);
  };
  await Promise.all(Array.from({ length: clients }, run));
}

/** Creates the sender for the method `request`. It sends the body and its headers, and reads the response. */
function createRequestSender(): CallbackSender {
  const pools = ports.map((port) => new Pool(`http://127.0.0.1:${port}`));
  let sent = 0;
  return {
    async prepare() {},
    async send(client) {
      sent += 1;
      const pool = pools[client % pools.length] as Pool;
      const headers = { "content-type": "application/json", "idempotency-key": `bench-${sent}` };
      const { body } = await pool.request({ path: "/callback", method: "POST", headers, body: BODY });
      await body.dump();
    },
    close: () => Promise.all(pools.map((pool) => pool.destroy())),
  };
}

/** Creates the sender for the methods `post` and `settle`. */
function createWorkerSender({ settles }: { settles: boolean }): CallbackSender {
  const directory = mkdtempSync(path.join(tmpdir(), "bench-callbacks-"));
  const store = openStore({ file: path.join(directory, "bridge.db") });
  const stopLimiting = limitResponseOverhead();
  const prepared = new Map<string, DueCallback[]>();
  const onSettled = new Map<number, () => void>();
  let handOver: (callback: DueCallback) => void = () => {};
  let tasks = 0;
  store.onCallback((callback) => prepared.set(callback.origin, [...(prepared.get(callback.origin) ?? []), callback]));
  const worker = createCallbackWorker({
    store: {
      ...store,
      onCallback(listener) {
        handOver = listener;
      },
      listDueCallbackQueues: async () => [],
      async settleCallbackIfPending(posted, settlement) {
        const attempts = settles ? await store.settleCallbackIfPending(posted, settlement) : 1;
        onSettled.get(posted.task.seq)?.();
        onSettled.delete(posted.task.seq);
        return attempts;
      },
    },
    metrics: createMetrics("bench"),
    logger: pino({ level: "warn" }),
    config: { retries: 3, backoffMs: 1000, secrets: [SECRET], allow: ["receiver.example"] },
    dnsCache: createDnsCache({ resolve: async () => [{ address: "127.0.0.1", family: 4, ttl: 60 }] }),
  });
  worker.start();

  const originOf = (client: number): string => `http://receiver.example:${ports[client % ports.length]}`;

  async function endTask(origin: string): Promise<void> {
    tasks += 1;
    const taskId = `bench-${tasks}`;
    const identity = {
      tenant: "default",
      taskId,
      parent: null,
      agentId: "bench",
      provider: "noop",
      fingerprint: "",
      needs: [],
      traceparent: null,
      tracestate: null,
    };
    const request = {
      message: "x",
      outputStrategy: { type: "stream" },
      profile: "inspect",
      approvals: "deny",
      onInterrupt: "fail",
    } as const;
    const { task } = await store.insertTaskIfAbsent({ ...identity, needs: [], request });
    await store.finishTaskIfQueued(task, {
      state: "cancelled",
      result: { status: "error", errorCode: "cancelled", error: "bench", durationMs: 1, connection: "in-process" },
      event: { type: "execution.failed", data: "{}" },
      callback: () => ({ url: `${origin}/callback`, origin, body: BODY, messageId: `msg_${taskId}` }),
    });
  }

  return {
    async prepare({ clients, perClient }) {
      await Promise.all(Array.from({ length: clients * perClient }, (_, index) => endTask(originOf(index % clients))));
    },
    send(client) {
      const callback = prepared.get(originOf(client))?.shift();
      if (callback === undefined) throw new Error("No callback is prepared.");
      return new Promise<void>((resolve) => {
        onSettled.set(callback.task.seq, resolve);
        handOver(callback);
      });
    },
    async close() {
      await worker.close();
      await store.close();
      stopLimiting();
      rmSync(directory, { recursive: true });
    },
  };
}
