import { once } from "node:events";
import type { ServerResponse } from "node:http";
import Fastify from "fastify";
import { Agent } from "undici";
import { z } from "zod";
import type { ExecutionResult } from "#contract";

const dispatchSchema = z.strictObject({
  taskId: z.string().min(1).max(128),
  agentId: z.string().min(1).max(128),
  message: z.string().min(1).max(1_000_000),
  callbackUrl: z.url(),
  metadata: z.record(z.string(), z.unknown()).optional(),
});
export type Dispatch = z.infer<typeof dispatchSchema>;

/** One event of a task as stored by a reference server; `data` is JSON. */
export interface StoredEvent {
  number: number;
  taskId: string;
  agentId: string;
  type: string;
  at: number;
  data: string;
}

/** Creates the HTTP part that the reference servers share, so that they differ only in how they store and queue. */
export function createTaskServer() {
  const readers = new Set<ServerResponse>();
  const callbacks = new Agent();
  const app = Fastify();
  app.get("/api/events", (_request, reply) => {
    reply.hijack();
    reply.raw.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
    reply.raw.write(": connected\n\n");
    readers.add(reply.raw);
    reply.raw.once("close", () => readers.delete(reply.raw));
  });

  return {
    /** Writes events to every reader, in one chunk. */
    publish(events: readonly StoredEvent[]): void {
      if (events.length === 0) return;
      const chunk = Buffer.from(events.map(renderFrame).join(""));
      for (const reader of readers) reader.write(chunk);
    },

    /** Posts a result to the task's callback URL; resolves to false if the receiver does not answer 200. */
    async deliver({ taskId, agentId, callbackUrl, metadata }: Dispatch, result: ExecutionResult): Promise<boolean> {
      const url = new URL(callbackUrl);
      const { statusCode, body } = await callbacks.request({
        origin: url.origin,
        path: url.pathname,
        method: "POST",
        headers: { "content-type": "application/json", "idempotency-key": taskId },
        body: JSON.stringify({ taskId, agentId, provider: "noop", ...result, metadata, finishedAt: new Date().toISOString() }),
      });
      await body.dump();
      return statusCode === 200;
    },

    /** Answers dispatches after `accept` has stored them, prints the address, and resolves after SIGTERM. */
    async serve(accept: (dispatch: Dispatch) => Promise<void>): Promise<void> {
      app.post("/api/v2/dispatch", async (request, reply) => {
        const dispatch = dispatchSchema.parse(request.body);
        await accept(dispatch);
        return reply.code(202).send({ taskId: dispatch.taskId, provider: "noop", agentId: dispatch.agentId, state: "queued" });
      });
      const address = await app.listen({ host: "127.0.0.1", port: 0 });
      console.log(JSON.stringify({ address }));
      await once(process, "SIGTERM");
      for (const reader of readers) reader.end();
      await app.close();
      await callbacks.destroy();
    },
  };
}

function renderFrame({ number, taskId, agentId, type, at, data }: StoredEvent): string {
  const about = `"taskId":"${taskId}","agentId":"${agentId}","provider":"noop","timestamp":"${new Date(at).toISOString()}"`;
  return `id: floor-${number}\nevent: ${type}\ndata: {"id":"floor-${number}","type":"${type}",${about},"data":${data}}\n\n`;
}
