import type { AddressInfo } from "node:net";
import { pino } from "pino";
import { onTestFinished } from "vitest";
import { createClientMemory } from "../../src/access/client-memory.ts";
import { type Principal, scopes } from "../../src/access/principal.ts";
import { createTickets } from "../../src/access/tickets.ts";
import { createRequestTurns } from "../../src/http/wire/request-turns.ts";
import { createMetrics, type Metrics } from "../../src/metrics.ts";
import type { OpRequest, OpResponse } from "../../src/websocket/op-protocol.ts";
import { createSocketServer, type SocketServerOptions, type WebSocketServer } from "../../src/websocket/socket-server.ts";
import { createBareServer } from "../http/bare-server.ts";
import { openTestStore } from "../support/database-subject.ts";
import { createNamedTokens } from "../support/named-tokens.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { openSocket, type SocketClient } from "./socket-client.ts";

/** A server with only the WebSocket transport and the handler of the test. */
export interface SocketServer {
  url: string;
  bridgeServer: WebSocketServer;
  metrics: Metrics;
  /** Every line that was logged. */
  log: Record<string, unknown>[];
  /** Each token is the name of its principal and of its tenant. */
  principals: Map<string, Principal>;
  tickets: ReturnType<typeof createTickets>;
  connect(token?: string): Promise<SocketClient>;
  /** Closes the server like a shutdown of Bridge. */
  close(): Promise<void>;
}

type Options = Partial<Omit<SocketServerOptions, "handler" | "metrics" | "logger">>;

/** Starts a server that stops after the test. */
export async function startSocketServer(
  handle: (request: OpRequest) => OpResponse | Promise<OpResponse> = echo,
  options: Options = {},
): Promise<SocketServer> {
  const log: Record<string, unknown>[] = [];
  const logger = pino({ level: "trace", base: null }, { write: (line) => void log.push(JSON.parse(line)) });
  const metrics = createMetrics("test");
  const principals = new Map(
    ["alpha", "beta"].map((name): [string, Principal] => [name, { name, tenant: name, scopes: new Set(scopes), expiresAt: null }]),
  );
  const tokens = createNamedTokens(principals);
  const store = await openTestStore(await temporaryDirectory());
  onTestFinished(() => store.close());
  const tickets = createTickets({ store, tokens });
  const bridgeServer = createSocketServer({
    handler: { handle: async (request) => handle(request) },
    knownOps: ["test.echo"],
    frameLimitBytes: 1024 * 1024,
    clientMemory: createClientMemory(),
    requestTurns: createRequestTurns(),
    metrics,
    logger,
    ...options,
  });
  const app = await createBareServer({
    ...(options.clientMemory && { clientMemory: options.clientMemory }),
    logger,
    tokens,
    tickets,
  });
  await app.register(bridgeServer.routes);
  await bridgeServer.start();
  await app.listen({ port: 0, host: "127.0.0.1" });
  const url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}${bridgeServer.endpoint}`;
  onTestFinished(() => app.close());
  return {
    url,
    bridgeServer,
    metrics,
    log,
    principals,
    tickets,
    connect: (token = "alpha") => openSocket(url, { headers: { authorization: `Bearer ${token}` } }),
    close: () => app.close(),
  };
}

function echo({ payload }: OpRequest): OpResponse {
  return { status: 200, payload };
}
