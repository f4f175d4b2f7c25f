import { fastifySSE } from "@fastify/sse";
import type { FastifyInstance } from "fastify";
import type { Logger } from "pino";
import { type Catalog, listInputs } from "#contract";
import { listDomains } from "../../adapters/index.ts";
import { createClientMemory } from "../access/client-memory.ts";
import { scopes } from "../access/principal.ts";
import { createSessions } from "../access/sessions.ts";
import { createTickets } from "../access/tickets.ts";
import type { Tokens } from "../access/tokens.ts";
import { createCallbacks } from "../callbacks/callbacks.ts";
import type { Config } from "../config/config.ts";
import { createPreviewDispatch } from "../dispatch/preview-dispatch.ts";
import { createReceiveDispatch } from "../dispatch/receive-dispatch.ts";
import { BridgeError } from "../errors.ts";
import { consoleRoutes } from "../http/console/console.ts";
import { gatewayRoutes } from "../http/gateway/gateway.ts";
import { adapterRoutes } from "../http/routes/adapters.ts";
import { agentRoutes } from "../http/routes/agents.ts";
import { approvalRoutes } from "../http/routes/approvals.ts";
import { attentionRoutes } from "../http/routes/attention.ts";
import { budgetRoutes } from "../http/routes/budgets.ts";
import { callbackRoutes } from "../http/routes/callbacks.ts";
import { dispatchRoutes } from "../http/routes/dispatch.ts";
import { dispatchCheckRoutes } from "../http/routes/dispatch-check.ts";
import { domainRoutes } from "../http/routes/domains.ts";
import { healthRoutes } from "../http/routes/health.ts";
import { meRoutes } from "../http/routes/me.ts";
import { metricsRoutes } from "../http/routes/metrics.ts";
import { nodeRoutes } from "../http/routes/nodes.ts";
import { repositoryRoutes } from "../http/routes/repositories.ts";
import { serviceInfoRoutes } from "../http/routes/service-info.ts";
import { sessionRoutes } from "../http/routes/sessions.ts";
import { statsRoutes } from "../http/routes/stats.ts";
import { taskChangeRoutes } from "../http/routes/task-changes.ts";
import { taskFileRoutes } from "../http/routes/task-files.ts";
import { taskListRoutes } from "../http/routes/task-list.ts";
import { taskRequestRoutes } from "../http/routes/task-request.ts";
import { taskRoutes } from "../http/routes/tasks.ts";
import { webhookRedeliveryRoutes } from "../http/routes/webhook-redelivery.ts";
import { webhookRoutes } from "../http/routes/webhooks.ts";
import { workspaceRoutes } from "../http/routes/workspaces.ts";
import { createServer } from "../http/server/create-server.ts";
import { createOverloadMonitor } from "../http/server/overload-monitor.ts";
import { createEventStreams } from "../http/streams/event-streams.ts";
import { eventRoutes } from "../http/streams/events.ts";
import { taskEventRoutes } from "../http/streams/task-events.ts";
import { createRequestRates, type RequestRates } from "../http/wire/request-rates.ts";
import { createRequestTurns } from "../http/wire/request-turns.ts";
import type { SharedRates } from "../http/wire/shared-rates.ts";
import type { Metrics } from "../metrics.ts";
import { describeSchedule } from "../posts/schedule.ts";
import { createAgentList } from "../queries/agent-list.ts";
import { createRepositoryList } from "../queries/repository-list.ts";
import { createTaskChanges } from "../queries/task-changes.ts";
import { createTaskReader } from "../queries/task-reader.ts";
import { createUsageReader } from "../queries/usage-reader.ts";
import { createDescribedDispatchSchema } from "../requests/dispatch-schema.ts";
import { createDispatchParser } from "../requests/parse-dispatch.ts";
import { createWorkspaceList } from "../workspaces/list-workspaces.ts";
import { createTaskFiles } from "../workspaces/tenant-task-files.ts";
import { createWorkspaceFiles } from "../workspaces/workspace-files.ts";
import { createSockets } from "./create-sockets.ts";
import type { Engine } from "./engine.ts";
import { createMetricsSampler } from "./sample-metrics.ts";

/** Options of the endpoints that are not part of the configuration. */
interface EndpointOptions {
  engine: Engine;
  catalog: Catalog;
  tokens: Tokens;
  metrics: Metrics;
  logger: Logger;
  version: string;
  /** Event-loop delay above which new dispatches are rejected; 0 means never. */
  maxEventLoopDelayMs: number | undefined;
}

/** The HTTP and WebSocket endpoints of an engine. */
export type Endpoints = Awaited<ReturnType<typeof createEndpoints>>;

/** Creates the server with all of its routes. Requests wait until `open` is called. */
export async function createEndpoints(
  config: Config,
  { engine, catalog, tokens, metrics, logger, version, maxEventLoopDelayMs }: EndpointOptions,
) {
  const { store, membership, forwarding, eventLog, approvals, workspaces, registry, adapters, nodes, dispatcher } = engine;
  const tickets = createTickets({ store, tokens });
  const sessions = createSessions({ store, tokens, tickets });
  const requestRates = createRates(config.rateLimitPerMinute, engine.sharedRates);
  const limits = { clientMemory: createClientMemory(), requestTurns: createRequestTurns() };
  const onSample = (delayMs: number): void => metrics.eventLoopDelay.observe(delayMs / 1000);
  const overload = createOverloadMonitor({ onSample, ...(maxEventLoopDelayMs !== undefined && { maxDelayMs: maxEventLoopDelayMs }) });
  // Fastify would log the address itself, before Bridge does.
  const serverLogger = logger.child({}, { level: logger.isLevelEnabled("info") ? "warn" : logger.level });
  const server = await createServer({
    ...{ config, logger: serverLogger, version, tokens, tickets, sessions, overload, ...limits },
    ...{ requestLog: config.logsRequests ? logger : null, requestRates },
  });
  const openRequests = holdRequests(server);
  closeConnectionsWhileDraining(server, dispatcher);
  const eventStreams = createEventStreams({ store, eventLog, ...limits, metrics, logger });
  let isClosing = false;
  server.addHook("preClose", async () => {
    isClosing = true;
    await eventStreams.closeAll("shutdown");
  });
  await server.register(fastifySSE);

  const tasks = createTaskReader(store, dispatcher);
  const inputs = listInputs(catalog);
  const parseDispatch = createDispatchParser(inputs);
  const receiveDispatch = createReceiveDispatch({ dispatcher, adapters, metrics, parseDispatch, defaultProfile: config.defaultProfile });
  const previewDispatch = createPreviewDispatch({ dispatcher, registry, workspaces, parseDispatch, defaultProfile: config.defaultProfile });
  const listed = { workspaces: createWorkspaceList({ store, workspacesDir: config.workspacesDir }), files: createWorkspaceFiles(engine) };
  await server.register(meRoutes, { scopes, signsCallbacks: config.callbacks.secrets.length > 0 });
  await server.register(sessionRoutes, { sessions, tickets });
  const bodySchema = createDescribedDispatchSchema(inputs);
  await server.register(dispatchRoutes, { bodySchema, receiveDispatch, dispatcher, tasks });
  await server.register(dispatchCheckRoutes, { bodySchema, previewDispatch });
  await server.register(taskListRoutes, { tasks });
  await server.register(taskRoutes, { dispatcher, tasks });
  await server.register(taskRequestRoutes, { bodySchema, tasks });
  await server.register(agentRoutes, { agents: createAgentList(store, dispatcher) });
  await server.register(statsRoutes, { usage: createUsageReader(store) });
  await server.register(workspaceRoutes, { ...listed, forward: forwarding.workspaces });
  await server.register(taskFileRoutes, { taskFiles: createTaskFiles({ store, workspaces }), forward: forwarding.taskFiles });
  await server.register(taskChangeRoutes, { changes: createTaskChanges(engine), forward: forwarding.taskFiles });
  await server.register(repositoryRoutes, { repositories: createRepositoryList(engine) });
  await server.register(taskEventRoutes, { store, eventStreams });
  await server.register(eventRoutes, { store, eventStreams, tickets });
  await server.register(callbackRoutes, { callbacks: createCallbacks(store, engine.callbackWorker) });
  await server.register(webhookRoutes, { webhooks: engine.webhooks });
  await server.register(webhookRedeliveryRoutes, { webhooks: engine.webhooks });
  await server.register(budgetRoutes, { budgets: engine.budgets });
  await server.register(approvalRoutes, { approvals });
  await server.register(attentionRoutes, { attention: engine.attention });
  await server.register(adapterRoutes, { inputs, registry, adapters, dispatcher });
  await server.register(domainRoutes, { listDomains, workspaces, forward: forwarding.workspaces });
  await server.register(nodeRoutes, { nodes, logger });
  await server.register(gatewayRoutes, { registry, dispatcher, logger, forward: forwarding.runtimes });
  await server.register(serviceInfoRoutes, { version, callbackRetries: describeSchedule(config.callbacks) });
  await server.register(consoleRoutes);
  await server.register(healthRoutes, { ...engine, checkWritable: membership.checkInTouch });
  await server.register(metricsRoutes, { metrics, sample: createMetricsSampler(config, engine, metrics), isPublic: config.metricsPublic });

  const sockets = createSockets({
    ...{ engine, receiveDispatch, tasks, workspaces: listed.workspaces, requestRates, ...limits, metrics, logger },
    frameLimitBytes: config.bodyLimitBytes,
    checkCanStart() {
      if (isClosing) throw new BridgeError("draining", "Bridge is stopping and accepts no new tasks.");
      if (overload.isOverloaded) throw new BridgeError("overloaded", "Bridge is overloaded; try again later.");
    },
  });
  await server.register(sockets.routes);

  tokens.onRevoked((principal) => {
    eventStreams.disconnect(principal);
    sockets.disconnect(principal);
  });
  // Node accepts one connection per turn of the event loop, and a commit takes most of a turn. So clients that connect share commits.
  server.server.on("connection", store.postponeCommit);
  await server.ready();

  return {
    server,
    tickets,
    /** Starts to accept requests and sockets. */
    async open(): Promise<void> {
      await sockets.start();
      overload.start();
      openRequests();
    },
    /** Closes every stream and socket, then the port. */
    async close(): Promise<void> {
      await server.close();
      await forwarding.close();
      overload.close();
      requestRates?.close();
    },
  };
}

/**
 * Lets requests wait until the returned function is called. The port is bound early, so that its address can be logged early, but the
 * tasks of the last run must be recovered first.
 */
function holdRequests(server: FastifyInstance): () => void {
  const opened = Promise.withResolvers<void>();
  let isOpen = false;
  server.addHook("onRequest", (_request, _reply, done) => {
    if (isOpen) done();
    else void opened.promise.then(() => done());
  });
  return () => {
    isOpen = true;
    opened.resolve();
  };
}

/** Clients and load balancers then open their next connection elsewhere, and send no request on one that is about to be closed. */
function closeConnectionsWhileDraining(server: FastifyInstance, dispatcher: Pick<Engine["dispatcher"], "draining">): void {
  server.addHook("onRequest", (_request, reply, done) => {
    if (dispatcher.draining) reply.header("connection", "close");
    done();
  });
}

const createRates = (perMinute: number | null, shared: SharedRates): RequestRates | null =>
  perMinute === null ? null : createRequestRates({ perMinute, shared });
