import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startBridgeApp } from "../support/bridge-app.ts";
import { dispatchTask, shellCommand, startBridgeProgram, taskInState } from "../support/bridge-program.ts";
import { startReceiver } from "../support/start-receiver.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { type CollectorAnswer, drawTree, startCollector } from "./start-collector.ts";

/** Emits a tool call, and reports the trace context that it got. */
const agent = {
  ...shellCommand(
    [
      `echo '{"type":"tool.invoked","toolCallId":"c1","toolName":"look","input":{"path":"secret.txt"}}'`,
      `echo '{"type":"tool.completed","toolCallId":"c1","toolName":"look","output":"seen","isError":false}'`,
      `printf '{"type":"result","output":"%s","model":"small","costUsd":0.5,"usage":{"inputTokens":12,"outputTokens":3}}\\n' "$TRACEPARENT\${TRACESTATE:+ $TRACESTATE}"`,
    ].join("\n"),
  ),
  BRIDGE_CALLBACK_BACKOFF_MS: "10",
};
const CALLER = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

async function collector(answer?: (number: number) => CollectorAnswer) {
  const started = await startCollector(answer);
  onTestFinished(started.close);
  return started;
}

test("a task is exported as a tree in the trace of its caller, with its tool call and each attempt of its callback, and without content", async () => {
  const directory = await temporaryDirectory();
  const { settings, spans } = await collector();
  const receiver = await startReceiver((response, _, number) => response.writeHead(number === 1 ? 500 : 200).end());
  onTestFinished(receiver.close);
  const bridge = await startBridgeProgram(directory, {
    ...agent,
    ...settings,
    OTEL_SERVICE_NAME: "house",
    OTEL_RESOURCE_ATTRIBUTES: "team=docs",
  });
  const body = { taskId: "t-1", agentId: "auditor", message: "hidden message", profile: "modify", callbackUrl: `${receiver.origin}/in` };
  await bridge.call("POST", "/api/v2/dispatch", body, { traceparent: CALLER, tracestate: "rojo=1,congo=2" });
  await expect.poll(() => spans.length).toBe(6);

  expect(drawTree(spans)).toMatchInlineSnapshot(`
    "SERVER POST /api/v2/dispatch
      INTERNAL bridge.queue
      INTERNAL invoke_agent auditor
        INTERNAL execute_tool look
      CLIENT POST
      CLIENT POST"
  `);
  expect(new Set(spans.map(({ traceId }) => traceId))).toEqual(new Set(["0af7651916cd43dd8448eb211c80319c"]));
  expect(new Set(spans.map(({ tracestate }) => tracestate))).toEqual(new Set(["rojo=1,congo=2"]));
  expect(receiver.posts.map(({ headers }) => headers["tracestate"])).toEqual(["rojo=1,congo=2", "rojo=1,congo=2"]);
  const root = spans.find(({ kind }) => kind === "SERVER");
  expect(root?.parentSpanId).toBe("b7ad6b7169203331");
  expect(root?.attributes).toMatchInlineSnapshot(`
    {
      "bridge.provider": "command",
      "bridge.task.id": "t-1",
      "bridge.tenant": "default",
      "http.request.method": "POST",
      "http.response.status_code": 202,
      "http.route": "/api/v2/dispatch",
    }
  `);
  const run = spans.find(({ name }) => name.startsWith("invoke_agent"));
  expect(run?.attributes).toMatchInlineSnapshot(`
    {
      "bridge.connection": "cli",
      "bridge.cost.usd": 0.5,
      "bridge.profile": "modify",
      "bridge.provider": "command",
      "bridge.task.id": "t-1",
      "bridge.tenant": "default",
      "gen_ai.agent.name": "auditor",
      "gen_ai.operation.name": "invoke_agent",
      "gen_ai.provider.name": "command",
      "gen_ai.response.model": "small",
      "gen_ai.usage.input_tokens": 12,
      "gen_ai.usage.output_tokens": 3,
    }
  `);
  expect(spans.find(({ name }) => name.startsWith("execute_tool"))?.attributes).toMatchInlineSnapshot(`
    {
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.call.id": "c1",
      "gen_ai.tool.name": "look",
    }
  `);
  const attempts = spans.filter(({ name }) => name === "POST");
  expect(attempts.map(({ attributes }) => attributes["http.response.status_code"])).toEqual([500, 200]);
  expect(attempts.map(({ attributes }) => attributes["http.request.resend_count"])).toEqual([undefined, 1]);
  expect(run).toMatchObject({ scope: { name: "bridge", schemaUrl: "https://opentelemetry.io/schemas/gen-ai/0.1.0" } });
  expect(run?.resource).toMatchObject({ "service.name": "house", team: "docs", "service.version": expect.any(String) });
  expect(JSON.stringify(spans)).not.toMatch(/hidden message|secret\.txt|seen/);

  // The runtime and the log name the span of the run.
  const task = await taskInState(bridge, "t-1", "completed");
  expect(task).toMatchObject({ result: { output: `00-${run?.traceId}-${run?.spanId}-01 rojo=1,congo=2` } });
  await expect
    .poll(() => bridge.log.find(({ msg }) => msg === "task ended"))
    .toMatchObject({ trace_id: run?.traceId, span_id: run?.spanId });
  await expect
    .poll(() => bridge.log.filter(({ msg }) => msg === "callback attempt").map((line) => line["span_id"]))
    .toEqual(attempts.map(({ spanId }) => spanId));
});

test("the log lines of an adapter about a task name the span of its run, with the level of the log", async () => {
  const directory = await temporaryDirectory();
  const { settings, spans } = await collector();
  // Only Bridge may emit this event, so the adapter logs it.
  const bridge = await startBridgeApp(directory, { ...shellCommand(`echo '{"type":"execution.completed"}'`), ...settings });
  await dispatchTask(bridge, { taskId: "t-1", agentId: "a", message: "go" });
  await taskInState(bridge, "t-1", "completed");
  await expect.poll(() => spans.length).toBe(3);
  const { traceId, spanId } = spans.find(({ name }) => name.startsWith("invoke_agent")) ?? {};
  await expect
    .poll(() => bridge.log.find(({ dropped }) => dropped === 1))
    .toMatchObject({
      level: 40,
      provider: "command",
      trace_id: traceId,
      span_id: spanId,
    });
});

test("content is exported only if BRIDGE_OTEL_CONTENT names it, and at most 8 KiB of it", async () => {
  const directory = await temporaryDirectory();
  const { settings, spans } = await collector();
  const bridge = await startBridgeApp(directory, { ...agent, ...settings, BRIDGE_OTEL_CONTENT: "messages,tools" });
  await dispatchTask(bridge, { taskId: "t-1", agentId: "a", message: `"${"ä".repeat(20_000)}` });
  await expect.poll(() => spans.length).toBe(4);
  const run = spans.find(({ name }) => name.startsWith("invoke_agent"))?.attributes;
  const [input] = JSON.parse(String(run?.["gen_ai.input.messages"])) as { role: string; parts: { content: string }[] }[];
  expect(input?.role).toBe("user");
  expect(input?.parts[0]?.content).toMatch(/^"ä{3000,}$/);
  expect(Buffer.byteLength(String(run?.["gen_ai.input.messages"]))).toBeLessThanOrEqual(8192);
  expect(run?.["gen_ai.output.messages"]).toContain("assistant");
  const tool = spans.find(({ name }) => name.startsWith("execute_tool"))?.attributes;
  expect(tool).toMatchObject({ "gen_ai.tool.call.arguments": '{"path":"secret.txt"}', "gen_ai.tool.call.result": '"seen"' });
});

test("after kill -9 in mid-task, the spans of each task arrive once the process runs again, with the ids that the runtime got", async () => {
  const directory = await temporaryDirectory();
  const { settings, unique } = await collector();
  const work = {
    ...shellCommand(
      `echo '{"type":"tool.invoked","toolCallId":"c1","toolName":"build","input":{}}'; echo "$TRACEPARENT" > "$HOME/context"; exec sleep 600`,
    ),
    BRIDGE_MAX_CONCURRENT: "16",
  };
  const ids = ["t-1", "t-2", "t-3"];
  const first = await startBridgeProgram(directory, { ...work, ...settings });
  await Promise.all(ids.map((taskId) => dispatchTask(first, { taskId, agentId: taskId, message: "work" })));
  for (const taskId of ids) {
    const events = async () => (await (await first.call("GET", `/api/v2/tasks/${taskId}/events`)).json()) as { data: { type: string }[] };
    await expect.poll(async () => (await events()).data.map(({ type }) => type)).toContain("tool.invoked");
  }
  first.signal("SIGKILL");
  await first.exited;
  expect(unique()).toEqual([]);

  const second = await startBridgeProgram(directory, { ...work, ...settings });
  await expect.poll(() => unique().length).toBe(ids.length * 4);
  const trees = Map.groupBy(unique(), ({ traceId }) => traceId);
  expect(trees.size).toBe(3);
  for (const spans of trees.values())
    expect(drawTree(spans, ({ name, attributes }) => `${name.replace(/t-\d/, "t")} ${String(attributes["error.type"] ?? "")}`.trim())).toBe(
      ["POST /api/v2/dispatch", "  bridge.queue", "  invoke_agent t bridge_restarted", "    execute_tool build bridge_restarted"].join(
        "\n",
      ),
    );
  expect(second.log.filter(({ level }) => Number(level) >= 50)).toEqual([]);
});

test("kill -9 between a batch and its acknowledgment repeats spans with the same ids and loses none", async () => {
  const directory = await temporaryDirectory();
  let isAway = false;
  const { settings, spans, unique, sizes } = await collector(() => (isAway ? 503 : 200));
  const ids = Array.from({ length: 12 }, (_, index) => `t-${index}`);
  for (let round = 0; round < 3; round += 1) {
    const bridge = await startBridgeProgram(directory, { ...agent, ...settings, BRIDGE_MAX_CONCURRENT: "16" });
    isAway = round === 1;
    const answered = sizes.length;
    await Promise.all(ids.map((taskId) => dispatchTask(bridge, { taskId: `${taskId}-${round}`, agentId: taskId, message: "go" })));
    for (const taskId of ids) await taskInState(bridge, `${taskId}-${round}`, "completed");
    await expect.poll(() => sizes.length, { interval: 1 }).toBeGreaterThan(answered);
    bridge.signal("SIGKILL");
    await bridge.exited;
  }
  isAway = false;
  await startBridgeProgram(directory, { ...agent, ...settings });
  await expect.poll(() => unique().length).toBe(3 * 12 * 4);
  const contents = new Map<string, string>();
  for (const span of spans) {
    const known = contents.get(span.spanId);
    if (known !== undefined) expect(JSON.stringify({ ...span, resource: null })).toBe(known);
    contents.set(span.spanId, JSON.stringify({ ...span, resource: null }));
  }
});

test("a collector that is away for a while gets everything when it returns, in bounded batches", async () => {
  const directory = await temporaryDirectory();
  const CALLS = 12;
  let isAway = true;
  const { settings, unique, sizes } = await collector(() => (isAway ? 503 : 200));
  const bridge = await startBridgeProgram(directory, {
    // Many spans of few tasks.
    ...shellCommand(
      `for call in $(seq ${CALLS}); do
        echo '{"type":"tool.invoked","toolCallId":"'$call'","toolName":"look","input":{}}'
        echo '{"type":"tool.completed","toolCallId":"'$call'","toolName":"look","output":"seen","isError":false}'
      done`,
    ),
    ...settings,
    BRIDGE_MAX_CONCURRENT: "16",
    OTEL_EXPORTER_OTLP_TIMEOUT: "200",
  });
  const ids = Array.from({ length: 50 }, (_, index) => `t-${index}`);
  for (let start = 0; start < ids.length; start += 25)
    await Promise.all(ids.slice(start, start + 25).map((taskId) => dispatchTask(bridge, { taskId, agentId: "a", message: "go" })));
  for (const taskId of ids) await taskInState(bridge, taskId, "completed");
  await expect.poll(() => sizes.length).toBeGreaterThan(1);
  expect(unique()).toEqual([]);
  const metrics = await (await bridge.call("GET", "/metrics")).text();
  expect(metrics).toMatch(/^bridge_trace_delay_seconds [0-9.]+$/m);
  expect(metrics).not.toMatch(/^bridge_trace_delay_seconds 0$/m);
  await expect.poll(() => bridge.log.filter(({ msg }) => msg === "the collector did not accept spans, retrying")).toHaveLength(1);
  isAway = false;
  await expect.poll(() => unique().length).toBe(50 * (CALLS + 3));
  expect(Math.max(...sizes)).toBeLessThanOrEqual(512);
});

test.for([
  { name: "a batch", answer: 400, rejected: 4 },
  { name: "some spans of a batch", answer: { rejectedSpans: 2, errorMessage: "too old" }, rejected: 2 },
])("$name that the collector rejects is logged and counted, and does not delay what follows", async ({ answer, rejected }) => {
  const directory = await temporaryDirectory();
  const { settings, unique } = await collector((number) => (number === 1 ? answer : 200));
  const bridge = await startBridgeApp(directory, { ...agent, ...settings });
  await dispatchTask(bridge, { taskId: "t-1", agentId: "a", message: "go" });
  const lost = () => bridge.log.filter(({ msg }) => msg === "the collector rejected spans, they are lost");
  await expect.poll(() => lost().map((line) => line["spans"])).toEqual([rejected]);
  await dispatchTask(bridge, { taskId: "t-2", agentId: "a", message: "go" });
  await expect
    .poll(
      () =>
        unique()
          .map(({ attributes }) => attributes["bridge.task.id"])
          .filter((id) => id === "t-2").length,
    )
    .toBe(3);
  const metrics = await (await bridge.call("GET", "/metrics")).text();
  expect(metrics).toMatch(new RegExp(`^bridge_trace_spans_total\\{outcome="rejected"\\} ${rejected}$`, "m"));
});

test("a sampled-out caller exports nothing, and the runtime learns that it is not sampled", async () => {
  const directory = await temporaryDirectory();
  const { settings, spans } = await collector();
  const bridge = await startBridgeApp(directory, { ...agent, ...settings });
  const send = (taskId: string, traceparent: string) =>
    bridge.call("POST", "/api/v2/dispatch", { taskId, agentId: "a", message: "go" }, { traceparent });
  await send("t-out", `${CALLER.slice(0, -2)}00`);
  expect(await taskInState(bridge, "t-out", "completed")).toMatchObject({ result: { output: expect.stringMatching(/-00$/) } });
  await send("t-in", CALLER);
  await expect.poll(() => spans.length).toBe(4);
  expect(spans.every(({ attributes }) => attributes["bridge.task.id"] !== "t-out")).toBe(true);
});

test("without an endpoint, Bridge loads no package that exports traces, and passes the caller's trace context to the runtime", async () => {
  const directory = await temporaryDirectory();
  // Each load of such a package would end the process.
  const hook = path.join(import.meta.dirname, "reject-opentelemetry.js");
  // The trace of the process that started Bridge is not that of a task.
  const own = { TRACEPARENT: CALLER.replace("0af7", "ffff"), TRACESTATE: "own=1" };
  const bridge = await startBridgeProgram(directory, { ...agent, ...own, NODE_OPTIONS: `--import ${hook}` });
  await dispatchTask(bridge, { taskId: "t-0", agentId: "a", message: "go" });
  expect(await taskInState(bridge, "t-0", "completed")).toMatchObject({ result: { output: "" } });
  await bridge.call("POST", "/api/v2/dispatch", { taskId: "t-1", agentId: "a", message: "go" }, { traceparent: CALLER });
  expect(await taskInState(bridge, "t-1", "completed")).toMatchObject({ result: { output: CALLER } });
  await expect
    .poll(() => bridge.log.find(({ msg, taskId }) => msg === "task ended" && taskId === "t-1"))
    .toMatchObject({ trace_id: CALLER.slice(3, 35) });
});

test("an endpoint without the OpenTelemetry packages stops the start with the command that installs them", async () => {
  const directory = await temporaryDirectory();
  const hook = path.join(import.meta.dirname, "reject-opentelemetry.js");
  const { settings } = await collector();
  const start = startBridgeProgram(directory, { ...agent, ...settings, NODE_OPTIONS: `--import ${hook}` });
  await expect(start).rejects.toThrow(/OTEL_EXPORTER_OTLP_ENDPOINT .* npm install --no-save @opentelemetry\/api/);
});

test("an endpoint for gRPC is a fault of the configuration that names the port of HTTP", async () => {
  const directory = await temporaryDirectory();
  const start = startBridgeApp(directory, {
    ...agent,
    OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:4317",
    OTEL_EXPORTER_OTLP_PROTOCOL: "grpc",
  });
  await expect(start).rejects.toThrow(/OTEL_EXPORTER_OTLP_PROTOCOL: Bridge exports traces over http\/protobuf only.*4318/);
});
