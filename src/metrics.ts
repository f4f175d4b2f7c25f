import { Counter, Gauge, Histogram, Registry } from "prom-client";

/** Bridge's own numbers, in a registry of their own. Labels are few and bounded: never an id. */
export function createMetrics(version: string) {
  const registry = new Registry();
  const registers = [registry];
  const metrics = {
    registry,
    dispatches: new Counter({
      name: "bridge_dispatches_total",
      help: "Dispatches by outcome at the door.",
      labelNames: ["provider", "outcome"],
      registers,
    }),
    executionDuration: new Histogram({
      name: "bridge_execution_duration_seconds",
      help: "From the start of a task to its end.",
      labelNames: ["provider", "outcome"],
      buckets: [0.01, 0.05, 0.1, 0.5, 1, 5, 15, 60, 300, 900, 3600],
      registers,
    }),
    executionsInFlight: new Gauge({
      name: "bridge_executions_in_flight",
      help: "Slots taken: tasks whose runtime is not gone yet.",
      labelNames: ["provider"],
      registers,
    }),
    queued: new Gauge({ name: "bridge_tasks_queued", help: "Tasks waiting for a slot.", labelNames: ["provider"], registers }),
    queueFull: new Counter({
      name: "bridge_queue_full_total",
      help: "Dispatches refused with queue_full, by the queue that was full: bridge, tenant, agent.",
      labelNames: ["queue"],
      registers,
    }),
    lateResults: new Counter({
      name: "bridge_late_results_total",
      help: "Results that came after the task had ended; never delivered.",
      labelNames: ["provider"],
      registers,
    }),
    eventsDropped: new Counter({
      name: "bridge_adapter_events_dropped_total",
      help: "Adapter events that were not allowed, not valid or too late.",
      labelNames: ["provider", "reason"],
      registers,
    }),
    approvals: new Counter({
      name: "bridge_approvals_total",
      help: "Tool calls that waited for an answer, by the answer: approved, rejected, unanswered.",
      labelNames: ["provider", "decision"],
      registers,
    }),
    callbackAttempts: new Counter({
      name: "bridge_callback_attempts_total",
      help: "POSTs of callbacks by outcome.",
      labelNames: ["outcome"],
      registers,
    }),
    callbackDead: new Counter({ name: "bridge_callback_dead_total", help: "Callbacks given up.", registers }),
    callbackLag: new Histogram({
      name: "bridge_callback_delivery_lag_seconds",
      help: "From the end of a task to the delivery of its callback.",
      buckets: [0.01, 0.05, 0.1, 0.5, 1, 5, 30, 300, 3600, 86_400],
      registers,
    }),
    sseClients: new Gauge({ name: "bridge_sse_clients", help: "Open event streams.", registers }),
    sseSlowDisconnects: new Counter({
      name: "bridge_sse_slow_disconnect_total",
      help: "Readers disconnected because they did not keep up.",
      registers,
    }),
    websocketClients: new Gauge({ name: "bridge_websocket_clients", help: "Open WebSockets of the bridge protocol.", registers }),
    websocketRequests: new Counter({
      name: "bridge_websocket_requests_total",
      help: "Frames by op (unknown for what is none) and status of the answer.",
      labelNames: ["op", "status"],
      registers,
    }),
    websocketCutOffs: new Counter({
      name: "bridge_websocket_cut_off_total",
      help: "WebSocket clients disconnected because they did not read or were gone.",
      registers,
    }),
    tokens: new Counter({ name: "bridge_tokens_total", help: "Model tokens of ended tasks.", labelNames: ["provider", "kind"], registers }),
    cost: new Counter({
      name: "bridge_cost_usd_total",
      help: "Cost of ended tasks as their runtimes told it.",
      labelNames: ["provider"],
      registers,
    }),
    adapterUp: new Gauge({ name: "bridge_adapter_up", help: "1 healthy, 0.5 degraded, 0 offline.", labelNames: ["provider"], registers }),
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
    buildInfo: new Gauge({ name: "bridge_build_info", help: "Always 1; the label tells the version.", labelNames: ["version"], registers }),
  };
  metrics.buildInfo.set({ version }, 1);
  return metrics;
}
export type Metrics = ReturnType<typeof createMetrics>;
