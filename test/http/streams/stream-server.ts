import type { AddressInfo, Socket } from "node:net";
import { fastifySSE } from "@fastify/sse";
import type { FastifyInstance } from "fastify";
import { pino } from "pino";
import { onTestFinished } from "vitest";
import { createClientMemory } from "../../../src/access/client-memory.ts";
import { type Principal, scopes } from "../../../src/access/principal.ts";
import { createSessions } from "../../../src/access/sessions.ts";
import { createTickets } from "../../../src/access/tickets.ts";
import { createEventLog, type EventLog } from "../../../src/events/event-log.ts";
import { createServer } from "../../../src/http/server/create-server.ts";
import { createEventStreams, type EventStreams, type EventStreamsOptions } from "../../../src/http/streams/event-streams.ts";
import { eventRoutes } from "../../../src/http/streams/events.ts";
import { taskEventRoutes } from "../../../src/http/streams/task-events.ts";
import { createRequestTurns } from "../../../src/http/wire/request-turns.ts";
import { createMetrics, type Metrics } from "../../../src/metrics.ts";
import type { Store } from "../../../src/store/store.ts";
import type { Task } from "../../../src/task.ts";
import { newFinish } from "../../conformance/store/fixtures.ts";
import { openTestStore } from "../../support/database-subject.ts";
import { createNamedTokens } from "../../support/named-tokens.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";

/** A server with only the event routes. */
export interface StreamServer {
  readonly url: string;
  readonly port: number;
  readonly store: Store;
  readonly eventLog: EventLog;
  readonly eventStreams: EventStreams;
  readonly metrics: Metrics;
  /** Bytes that the server has written and its clients have not read, over all connections. */
  bytesWaiting(): number;
  /** Every line that was logged. */
  readonly log: string[];
  /** Appends `count` progress events and waits until they are durable. */
  progress(task: Task, count: number, data?: Record<string, unknown>): Promise<void>;
  finish(task: Task): Promise<void>;
  stop(): Promise<void>;
  /** Restarts on the same port with the same data. */
  start(): Promise<void>;
}

export interface StreamServerOptions extends Partial<Pick<EventStreamsOptions, "heartbeatMs" | "closeGraceMs" | "replayTimeoutMs">> {
  storeClock?: () => number;
  /** Tokens in addition to `default` and `other`. */
  principals?: Readonly<Record<string, Partial<Principal>>>;
}

/** Starts a server that stops after the test. Each token is the name of its principal and, by default, of its tenant. */
export async function startStreamServer(options: StreamServerOptions = {}): Promise<StreamServer> {
  const { storeClock, heartbeatMs, closeGraceMs, replayTimeoutMs } = options;
  const dataDir = await temporaryDirectory();
  const principals = Object.entries<Partial<Principal>>({ default: {}, other: {}, ...options.principals }).map(
    ([name, fields]): [string, Principal] => [name, { name, tenant: name, scopes: new Set(scopes), expiresAt: null, ...fields }],
  );
  const tokens = createNamedTokens(new Map(principals));
  const log: string[] = [];
  const logger = pino({ level: "trace" }, { write: (line) => void log.push(line) });
  const metrics = createMetrics("test");
  const connections = new Set<Socket>();
  let port = 0;
  let running: { app: FastifyInstance; store: Store; eventLog: EventLog; eventStreams: EventStreams } | undefined;

  async function start(): Promise<void> {
    const store = await openTestStore(dataDir, { clock: storeClock });
    const tickets = createTickets({ store, tokens });
    const eventLog = createEventLog({ store, metrics, logger });
    const times = {
      ...(heartbeatMs !== undefined && { heartbeatMs }),
      ...(closeGraceMs !== undefined && { closeGraceMs }),
      ...(replayTimeoutMs !== undefined && { replayTimeoutMs }),
    };
    const clientMemory = createClientMemory();
    const requestTurns = createRequestTurns();
    const eventStreams = createEventStreams({ store, eventLog, clientMemory, requestTurns, metrics, logger, ...times });
    const config = { bodyLimitBytes: 1024 * 1024, corsOrigins: [] };
    const app = await createServer({
      config,
      logger,
      version: "test",
      tokens,
      tickets,
      sessions: createSessions({ store, tokens, tickets }),
      overload: { isOverloaded: false },
      clientMemory,
      requestTurns,
    });
    await app.register(fastifySSE);
    await app.register(eventRoutes, { store, eventStreams, tickets });
    await app.register(taskEventRoutes, { store, eventStreams });
    app.addHook("preClose", () => eventStreams.closeAll("shutdown"));
    app.server.on("connection", (socket: Socket) => {
      connections.add(socket);
      socket.once("close", () => connections.delete(socket));
    });
    await app.listen({ port, host: "127.0.0.1" });
    port = (app.server.address() as AddressInfo).port;
    running = { app, store, eventLog, eventStreams };
  }

  async function stop(): Promise<void> {
    if (running === undefined) return;
    const { app, store, eventLog } = running;
    running = undefined;
    await app.close();
    await eventLog.close();
    await store.close();
  }

  const now = () => {
    if (running === undefined) throw new Error("the server does not run");
    return running;
  };

  onTestFinished(stop);
  await start();
  return {
    get url() {
      return `http://127.0.0.1:${port}`;
    },
    get port() {
      return port;
    },
    get store() {
      return now().store;
    },
    get eventLog() {
      return now().eventLog;
    },
    get eventStreams() {
      return now().eventStreams;
    },
    metrics,
    bytesWaiting: () => [...connections].reduce((sum, socket) => sum + socket.writableLength, 0),
    log,
    async progress(task, count, data = {}) {
      const { eventLog } = now();
      for (let step = 1; step <= count; step += 1) eventLog.append(task, { type: "execution.progress", data: { step, ...data } });
      await eventLog.flush(task);
    },
    async finish(task) {
      await now().store.finishTaskIfRunning(task, newFinish());
    },
    stop,
    start,
  };
}
