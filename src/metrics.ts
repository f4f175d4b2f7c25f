import { Counter, Gauge, Histogram, type HistogramConfiguration, Registry } from "prom-client";

/** Creates Bridge's metrics in a separate registry. Labels have few values, and never contain an id. */
export function createMetrics(version: string) {
  const registry = new Registry();
  const registers = [registry];
  const metrics = {
    registry,
    ...createTaskMetrics(registers),
    ...createCallbackMetrics(registers),
    ...createClientMetrics(registers),
    ...createNodeMetrics(registers),
    ...createProcessMetrics(registers),
  };
  metrics.buildInfo.set({ version }, 1);
  return metrics;
}
export type Metrics = ReturnType<typeof createMetrics>;

/** Creates a histogram with exemplars. Its constructor rejects the registry, although only the OpenMetrics format shows exemplars. */
function createHistogram<Label extends string>(registers: Registry[], configuration: HistogramConfiguration<Label>): Histogram<Label> {
  const histogram = new Histogram({ ...configuration, enableExemplars: true, registers: [] });
  for (const registry of registers) registry.registerMetric(histogram);
  return histogram;
}

/** Returns the labels of an exemplar: the trace id of a `traceparent`, if there is one. */
export function toExemplar(traceparent: string | null | undefined): Record<string, string> {
  const traceId = traceparent?.split("-")[1];
  return traceId === undefined ? {} : { trace_id: traceId };
}

/** Budgets with a maximum of tokens only have none of these. The nodes read them from their database. */
const createBudgetGauge = (registers: Registry[], { name, help }: { name: string; help: string }): Gauge<"budget"> =>
  new Gauge({ name, help: `${help} The same on all nodes.`, labelNames: ["budget"], registers });

function createTaskMetrics(registers: Registry[]) {
  return {
    dispatches: new Counter({
      name: "bridge_dispatches_total",
      help: "Dispatches by outcome: accepted, replayed, or an error code.",
      labelNames: ["provider", "outcome"],
      registers,
    }),
    executionDuration: createHistogram(registers, {
      name: "bridge_execution_duration_seconds",
      help: "Run time of ended tasks, from start to end.",
      labelNames: ["provider", "outcome"],
      buckets: durationBuckets,
    }),
    queueWait: createHistogram(registers, {
      name: "bridge_queue_wait_seconds",
      help: "Time that tasks waited, from their dispatch to their start on this node.",
      labelNames: ["provider"],
      buckets: durationBuckets,
    }),
    executionsInFlight: new Gauge({
      name: "bridge_executions_in_flight",
      help: "Occupied slots: tasks whose runtime has not ended.",
      labelNames: ["provider"],
      registers,
    }),
    queued: new Gauge({ name: "bridge_tasks_queued", help: "Queued tasks.", labelNames: ["provider"], registers }),
    queueFull: new Counter({
      name: "bridge_queue_full_total",
      help: "Dispatches rejected with queue_full, by full queue: bridge, tenant, agent.",
      labelNames: ["queue"],
      registers,
    }),
    lateResults: new Counter({
      name: "bridge_late_results_total",
      help: "Results that arrived after their task had ended. They are dropped.",
      labelNames: ["provider"],
      registers,
    }),
    eventsDropped: new Counter({
      name: "bridge_adapter_events_dropped_total",
      help: "Adapter events that were dropped, by reason.",
      labelNames: ["provider", "reason"],
      registers,
    }),
    approvals: new Counter({
      name: "bridge_approvals_total",
      help: "Approvals, by decision: approved, rejected, unanswered.",
      labelNames: ["provider", "decision"],
      registers,
    }),
    approvalsWaiting: new Gauge({
      name: "bridge_approvals_waiting",
      help: "Approvals of tasks on this node that wait for a decision.",
      registers,
    }),
    approvalOldest: new Gauge({
      name: "bridge_approval_oldest_seconds",
      help: "For how long the oldest approval of this node has waited for a decision. 0 if none waits.",
      registers,
    }),
    budgetSpent: createBudgetGauge(registers, {
      name: "bridge_budget_spent_usd",
      help: "What tasks have spent of a budget in its current period.",
    }),
    budgetReserved: createBudgetGauge(registers, {
      name: "bridge_budget_reserved_usd",
      help: "What running tasks may still spend of a budget.",
    }),
    budgetMax: createBudgetGauge(registers, { name: "bridge_budget_max_usd", help: "The maximum of a budget in one period." }),
    budgetStops: new Counter({
      name: "bridge_budget_stops_total",
      help: "Tasks that were stopped because they had reached a maximum.",
      labelNames: ["provider"],
      registers,
    }),
    budgetRefusals: new Counter({ name: "bridge_budget_refusals_total", help: "Dispatches rejected with budget_exhausted.", registers }),
    tokens: new Counter({
      name: "bridge_tokens_total",
      help: "Model tokens of ended tasks, by kind.",
      labelNames: ["provider", "kind"],
      registers,
    }),
    cost: new Counter({
      name: "bridge_cost_usd_total",
      help: "Cost of ended tasks in US dollars: the figures of their runtimes, or tokens multiplied by list prices or BRIDGE_MODEL_PRICES.",
      labelNames: ["provider"],
      registers,
    }),
  };
}

const durationBuckets = [0.01, 0.05, 0.1, 0.5, 1, 5, 15, 60, 300, 900, 3600];
const lagBuckets = [0.01, 0.05, 0.1, 0.5, 1, 5, 30, 300, 3600, 86_400];

function createCallbackMetrics(registers: Registry[]) {
  return {
    callbackAttempts: new Counter({
      name: "bridge_callback_attempts_total",
      help: "Callback attempts by outcome.",
      labelNames: ["outcome"],
      registers,
    }),
    callbackDead: new Counter({ name: "bridge_callback_dead_total", help: "Callbacks that failed permanently.", registers }),
    callbackLag: createHistogram(registers, {
      name: "bridge_callback_delivery_lag_seconds",
      help: "Time from the end of a task to the delivery of its callback.",
      buckets: lagBuckets,
    }),
    callbackOldest: new Gauge({
      name: "bridge_callback_oldest_pending_seconds",
      help: "Time since the end of the first dispatched task whose callback is pending. 0 if none is pending. The same on all nodes.",
      registers,
    }),
    webhookAttempts: new Counter({
      name: "bridge_webhook_attempts_total",
      help: "Webhook attempts by outcome.",
      labelNames: ["outcome"],
      registers,
    }),
    webhookDead: new Counter({ name: "bridge_webhook_dead_total", help: "Webhook deliveries that failed permanently.", registers }),
    webhookLag: createHistogram(registers, {
      name: "bridge_webhook_delivery_lag_seconds",
      help: "Time from an event to its delivery to a webhook.",
      buckets: lagBuckets,
    }),
  };
}

function createClientMetrics(registers: Registry[]) {
  return {
    sseClients: new Gauge({ name: "bridge_sse_clients", help: "Open event streams.", registers }),
    sseSlowDisconnects: new Counter({
      name: "bridge_sse_slow_disconnect_total",
      help: "Event streams closed because the client read too slowly.",
      registers,
    }),
    websocketClients: new Gauge({ name: "bridge_websocket_clients", help: "Open WebSockets of the bridge protocol.", registers }),
    websocketRequests: new Counter({
      name: "bridge_websocket_requests_total",
      help: "Requests by op and response status. Unrecognized ops have the label unknown.",
      labelNames: ["op", "status"],
      registers,
    }),
    websocketCutOffs: new Counter({
      name: "bridge_websocket_cut_off_total",
      help: "WebSocket clients disconnected because they read too slowly, did not respond to pings, or occupied too much memory.",
      registers,
    }),
  };
}

function createNodeMetrics(registers: Registry[]) {
  return {
    adapterUp: new Gauge({
      name: "bridge_adapter_up",
      help: "Adapter health: 1 healthy, 0.5 degraded, 0 offline.",
      labelNames: ["provider"],
      registers,
    }),
    adapterCoolingDown: new Gauge({
      name: "bridge_adapter_cooling_down",
      help: "1 while an adapter cools down after a usage limit, else 0.",
      labelNames: ["provider"],
      registers,
    }),
    orphansKilled: new Counter({
      name: "bridge_orphans_killed_total",
      help: "Runtime processes that outlived their task and were killed.",
      registers,
    }),
    storageFaults: new Counter({
      name: "bridge_storage_faults_total",
      help: "Reads and commits that failed because of the disk or a damaged database file.",
      registers,
    }),
    nodes: new Gauge({
      name: "bridge_nodes",
      help: "Nodes on the database, by state: live, draining, gone.",
      labelNames: ["state"],
      registers,
    }),
    leaseAge: new Gauge({
      name: "bridge_lease_age_seconds",
      help: "Time since this node last renewed its lease. 0 without PostgreSQL.",
      registers,
    }),
    lease: new Gauge({
      name: "bridge_lease_seconds",
      help: "BRIDGE_LEASE_SECONDS of this node. 0 without PostgreSQL.",
      registers,
    }),
    clockSkew: new Gauge({
      name: "bridge_clock_skew_seconds",
      help: "By how much the clock of this host is ahead of the clock of the PostgreSQL server. 0 without PostgreSQL.",
      registers,
    }),
    hints: new Counter({
      name: "bridge_hints_total",
      help: "Hints of other nodes, by what they report: events, stops, nodes, queue, callbacks. If none arrive, nodes see each other's work up to 1 s later.",
      labelNames: ["kind"],
      registers,
    }),
    tailLag: new Gauge({
      name: "bridge_tail_lag_events",
      help: "By how many events this node was behind the log when it last read it. 0 without PostgreSQL.",
      registers,
    }),
    traceSpans: new Counter({
      name: "bridge_trace_spans_total",
      help: "Spans by outcome: exported, rejected by the collector, or failed because a stored row could not be converted.",
      labelNames: ["outcome"],
      registers,
    }),
    traceEventsSkipped: new Counter({
      name: "bridge_trace_events_skipped_total",
      help: "Events that retention deleted before their spans were exported.",
      registers,
    }),
    traceDelay: new Gauge({
      name: "bridge_trace_delay_seconds",
      help: "Age of the oldest span that this node could not send to the collector. 0 if none waits.",
      registers,
    }),
    buildInfo: new Gauge({
      name: "bridge_build_info",
      help: "Always 1. The label contains the version.",
      labelNames: ["version"],
      registers,
    }),
  };
}

function createProcessMetrics(registers: Registry[]) {
  return {
    eventLoopDelay: new Histogram({
      name: "bridge_event_loop_delay_seconds",
      help: "Mean delay of the event loop in each second. New tasks are rejected after two seconds above 0.5.",
      buckets: [0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 1, 5],
      registers,
    }),
    diskFree: new Gauge({
      name: "bridge_disk_free_bytes",
      help: "Free space for Bridge on the file system of a directory: data, and with SQLite database.",
      labelNames: ["directory"],
      registers,
    }),
    diskSize: new Gauge({
      name: "bridge_disk_size_bytes",
      help: "Size of the file system of a directory: data, and with SQLite database.",
      labelNames: ["directory"],
      registers,
    }),
    residentMemory: new Gauge({
      name: "process_resident_memory_bytes",
      help: "Resident memory of Bridge, without its runtimes.",
      registers,
    }),
    openFiles: new Gauge({
      name: "process_open_fds",
      help: "Open file descriptors of Bridge. Only on Linux.",
      registers,
    }),
    cpuTime: new Counter({
      name: "process_cpu_seconds_total",
      help: "CPU time of Bridge, without its runtimes.",
      registers,
    }),
    startTime: new Gauge({
      name: "process_start_time_seconds",
      help: "When Bridge started, in seconds since 1970.",
      registers,
    }),
  };
}
