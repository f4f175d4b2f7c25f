import { setTimeout as delay } from "node:timers/promises";
import { EventSourceParserStream } from "eventsource-parser/stream";
import type { AdapterHealthStatus, EventEnvelope } from "#contract";

/** The few calls of Bridge's API that the demo makes. */
export interface BridgeClient {
  dispatch(body: object): Promise<{ status: number; replayed: boolean; task: Record<string, unknown> }>;
  /** How an adapter is, once that has been found out. */
  health(provider: string): Promise<AdapterHealthStatus>;
  /** The events of a stream, from `lastEventId` on, until Bridge ends it. */
  follow(path: string, lastEventId?: string): AsyncGenerator<EventEnvelope>;
}

interface AdapterList {
  data: { provider: string; health: AdapterHealthStatus & { checkedAt: string | null } }[];
}

/** Talks to one Bridge over HTTP, as any client would. */
export function createBridgeClient({ url, token, signal }: { url: string; token: string; signal: AbortSignal }): BridgeClient {
  async function call(path: string, { headers, ...init }: RequestInit & { headers: Record<string, string> }): Promise<Response> {
    const response = await fetch(new URL(path, url), { ...init, headers: { authorization: `Bearer ${token}`, ...headers }, signal });
    if (!response.ok) throw new Error(`Bridge answered ${response.status}: ${await response.text()}`);
    return response;
  }

  return {
    async dispatch(body) {
      const response = await call("/api/v2/dispatch", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      });
      const replayed = response.headers.get("idempotent-replayed") === "true";
      return { status: response.status, replayed, task: (await response.json()) as Record<string, unknown> };
    },

    async health(provider) {
      for (;;) {
        const { data } = (await (await call("/api/v2/adapters", { headers: {} })).json()) as AdapterList;
        const health = data.find((adapter) => adapter.provider === provider)?.health;
        if (health !== undefined && health.checkedAt !== null) return health;
        await delay(100, undefined, { signal });
      }
    },

    async *follow(path, lastEventId) {
      const headers = { accept: "text/event-stream", ...(lastEventId !== undefined && { "last-event-id": lastEventId }) };
      const { body } = await call(path, { headers });
      if (body === null) return;
      const messages = body.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream());
      // What concerns the stream alone carries no id.
      for await (const { id, data } of messages) if (id !== undefined) yield JSON.parse(data) as EventEnvelope;
    },
  };
}
