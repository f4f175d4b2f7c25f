import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { ProgramContext } from "../agent-program/agent-program.ts";
import type { CallLimit } from "../model-api/call-limit.ts";
import { createDispatcher } from "../model-api/model-http.ts";
import { createLocalKey, findLocalKey, hashKey } from "./credential.ts";
import type { LocalRoute, ProxyRoute } from "./proxy-plan.ts";
import { serveCall } from "./serve-call.ts";
import type { Tap } from "./tap.ts";
import type { ProxyTask, TaskRoute } from "./task-route.ts";
import { basePathOf } from "./upstream-path.ts";

/** Maximum size of the headers of a request or a response. */
const MAX_HEADER_BYTES = 256 * 1024;
/** How many requests per second with an unknown key get an answer. The connection of any other is closed. */
const MAX_REJECTIONS_PER_SECOND = 20;
/** How long an idle connection of a program stays open. Programs keep connections for a minute or longer. */
const IDLE_CONNECTION_MS = 120_000;

export type ModelProxy = Awaited<ReturnType<typeof openModelProxy>>;
export type ProxyLease = ReturnType<ModelProxy["lease"]>;

/**
 * Opens a proxy on the loopback interface. It forwards the model calls of tasks to their vendors with the real credentials, which the tasks
 * never see.
 */
export async function openModelProxy({ env, lookup }: Pick<ProgramContext, "env" | "lookup">) {
  // A response of HTTP/2 has neither a status text nor trailers in their raw form.
  const dispatcher = createDispatcher(env, lookup, { allowH2: false, maxHeaderSize: MAX_HEADER_BYTES });
  const routes = new Map<string, TaskRoute>();
  const mayReject = createRateLimit(MAX_REJECTIONS_PER_SECOND);

  const listener = createServer(
    // A request is held while an operator decides about the budget of its task, so there is no limit for its duration.
    { requestTimeout: 0, maxHeaderSize: MAX_HEADER_BYTES, keepAliveTimeout: IDLE_CONNECTION_MS },
    (incoming, response) => {
      incoming.on("error", () => {});
      response.on("error", () => {});
      const key = findLocalKey(incoming);
      const route = key === null ? undefined : routes.get(hashKey(key));
      if (key === null || route === undefined) reject(incoming, response);
      else void serveCall({ incoming, response, key, route, dispatcher });
    },
  );
  // A program may close its sending side after its request. Node's types do not include this property.
  Object.assign(listener, { httpAllowHalfOpen: true });

  function reject(incoming: IncomingMessage, response: ServerResponse): void {
    if (mayReject()) response.writeHead(401, { connection: "close" }).end();
    else incoming.socket.destroy();
  }

  listener.listen(0, "127.0.0.1");
  await once(listener, "listening");
  const origin = `http://127.0.0.1:${(listener.address() as AddressInfo).port}`;
  return {
    /** Opens the routes of one task. Their keys work until `close`. */
    lease(task: ProxyTask, taskRoutes: readonly ProxyRoute[]) {
      const ended = new AbortController();
      const state = { answered: 0, limit: null as CallLimit | null };
      const shared = { task, calls: new Set<Promise<void>>(), taps: new Set<Tap>(), state, signal: ended.signal };
      const keys: string[] = [];
      const local: Record<string, LocalRoute> = {};
      for (const route of taskRoutes) {
        const key = createLocalKey();
        local[route.name] = { baseUrl: `${origin}${basePathOf(route.baseUrl)}`, key };
        keys.push(hashKey(key));
        routes.set(hashKey(key), { ...shared, route });
      }
      return {
        local: local as Readonly<Record<string, LocalRoute>>,
        /** The number of calls that the vendor has answered. */
        get answered(): number {
          return state.answered;
        },
        /** The limit that rejected the last call; null if the vendor has answered a later one. */
        get lastLimit(): CallLimit | null {
          return state.limit;
        },
        /** Whether a call has not ended. */
        get isCalling(): boolean {
          return shared.calls.size > 0;
        },
        /** Makes the keys invalid and ends all calls. Resolves when all of them have been reported. */
        async close(): Promise<void> {
          for (const key of keys) routes.delete(key);
          ended.abort();
          await Promise.allSettled(shared.calls);
        },
      };
    },
    /** Resolves when the port is free. */
    async close(): Promise<void> {
      const closed = once(listener, "close");
      listener.close();
      listener.closeAllConnections();
      await Promise.all([closed, dispatcher.destroy()]);
    },
  };
}

/** Returns a function that returns true at most this often in each second. */
function createRateLimit(perSecond: number): () => boolean {
  let second = 0;
  let count = 0;
  return () => {
    const now = Math.floor(performance.now() / 1_000);
    count = now === second ? count + 1 : 1;
    second = now;
    return count <= perSecond;
  };
}
