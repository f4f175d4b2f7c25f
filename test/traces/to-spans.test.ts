import { expect, test } from "vitest";
import type { TraceEnd, TraceEvent } from "../../src/store/traces/interface.ts";
import type { ProviderTraits } from "../../src/traces/describe-providers.ts";
import type { Span } from "../../src/traces/span.ts";
import { type SpanOptions, toSpans } from "../../src/traces/to-spans.ts";

const traits: Record<string, ProviderTraits> = {
  command: { vendor: null, isWorkflow: false, callsModel: () => false },
  claude: { vendor: "anthropic", isWorkflow: false, callsModel: (connection) => connection === "api" },
  "bridge-claude": { vendor: null, isWorkflow: true, callsModel: () => false },
};
const options = (content = { messages: false, tools: false }): SpanOptions => ({
  content,
  traitsOf: (provider) => traits[provider] as ProviderTraits,
});

/** An event whose data fits into the part that is read. */
const event = (number: number, type: TraceEvent["type"], data: object = {}): TraceEvent => {
  const json = JSON.stringify(data);
  return { number, type, at: 1_000 + number, head: json, tail: json };
};

/** The end of a run that was created at 1000 and ended at 1050. */
function endOf({ task, summary, data = {}, ...fields }: EndFields = {}): TraceEnd {
  return {
    ...event(50, "execution.completed", { output: "All done.", connection: "cli", ...data }),
    type: "execution.completed",
    task: {
      ...{ seq: 7, tenant: "default", taskId: "t1", parentTaskId: null, parentSeq: null, agentId: "auditor", provider: "command" },
      ...{ traceparent: null, tracestate: null, createdAt: 1_000, ...task },
    },
    summary: { model: null, costUsd: null, usage: null, errorCode: null, ...summary },
    request: JSON.stringify({ message: "Look.", profile: "inspect" }),
    events: [event(10, "execution.started")],
    callback: null,
    ...fields,
  };
}

type EndFields = Partial<Omit<TraceEnd, "task" | "summary">> & {
  task?: Partial<TraceEnd["task"]>;
  summary?: Partial<TraceEnd["summary"]>;
  data?: object;
};

const CALLER = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

/** The spans as a tree, with the time and the error of each. */
function draw(spans: readonly Span[]): string {
  const ids = new Set(spans.map(({ spanId }) => spanId));
  expect(ids.size).toBe(spans.length);
  const below = (parent: string | null, depth: number): string[] =>
    spans
      .filter((span) => (parent === null ? span.parent === null || !ids.has(span.parent.spanId) : span.parent?.spanId === parent))
      .flatMap(({ name, kind, startAt, endAt, attributes, isError, spanId }) => [
        `${"  ".repeat(depth)}${name} ${kind} ${startAt}-${endAt}${isError ? ` error ${String(attributes["error.type"])}` : ""}`,
        ...below(spanId, depth + 1),
      ]);
  return `\n${below(null, 0).join("\n")}\n`;
}

const called = (number: number, id: string) => event(number, "tool.invoked", { toolCallId: id, toolName: "look", input: { path: "a" } });
const returned = (number: number, id: string, isError = false) =>
  event(number, "tool.completed", { toolCallId: id, toolName: "look", output: "seen", isError });
const asked = (number: number, approvalId: string, toolCallId: string) =>
  event(number, "tool.approval_requested", { approvalId, toolCallId, toolName: "look" });
const decided = (number: number, approvalId: string, decision: string) => event(number, "tool.approval_resolved", { approvalId, decision });
const modelCall = { model: "opus", usage: { inputTokens: 5, outputTokens: 1 }, costUsd: 0.5, durationMs: 5, status: 200 };
const STARTED = event(10, "execution.started");

test.for<{ name: string; end: TraceEnd; tree: string }>([
  {
    name: "a run without tools has the dispatch, the queue and the agent",
    end: endOf(),
    tree: `
POST /api/v2/dispatch server 1000-1000
  bridge.queue internal 1000-1010
  invoke_agent auditor internal 1010-1050
`,
  },
  {
    name: "a task that failed before its start has an empty run with its error",
    end: endOf({ type: "execution.failed", events: [], summary: { errorCode: "cancelled" } }),
    tree: `
POST /api/v2/dispatch server 1000-1000
  bridge.queue internal 1000-1000
  invoke_agent auditor internal 1000-1050 error cancelled
`,
  },
  {
    name: "a clock that was set back makes no span negative",
    end: endOf({ at: 900 }),
    tree: `
POST /api/v2/dispatch server 1000-1000
  bridge.queue internal 1000-1010
  invoke_agent auditor internal 1010-1010
`,
  },
  {
    name: "a task that was retried after an interruption is one run from its first start",
    end: endOf({ events: [STARTED, called(11, "c1"), event(30, "execution.started"), called(31, "c1"), returned(32, "c1")] }),
    tree: `
POST /api/v2/dispatch server 1000-1000
  bridge.queue internal 1000-1010
  invoke_agent auditor internal 1010-1050
    execute_tool look internal 1011-1050
    execute_tool look internal 1031-1032
`,
  },
  {
    name: "a child task is below the run of its parent and has no dispatch",
    end: endOf({ task: { parentSeq: 3, parentTaskId: "p", traceparent: CALLER } }),
    tree: `
bridge.queue internal 1000-1010
invoke_agent auditor internal 1010-1050
`,
  },
  {
    name: "a workflow is named after its provider",
    end: endOf({ task: { provider: "bridge-claude" }, data: { connection: "in-process" } }),
    tree: `
POST /api/v2/dispatch server 1000-1000
  bridge.queue internal 1000-1010
  invoke_workflow bridge-claude internal 1010-1050
`,
  },
  {
    name: "a run in which Bridge calls the model has a span of the model",
    end: endOf({ task: { provider: "claude" }, data: { connection: "api" }, summary: { model: "opus" } }),
    tree: `
POST /api/v2/dispatch server 1000-1000
  bridge.queue internal 1000-1010
  invoke_agent auditor client 1010-1050
    chat opus client 1010-1050
`,
  },
  {
    name: "a run whose calls of the model are in the log has a span of each",
    end: endOf({
      task: { provider: "claude" },
      data: { connection: "api" },
      summary: { model: "opus" },
      events: [
        STARTED,
        event(20, "usage.reported", { calls: [{ ...modelCall, startedAt: 1_011, status: 429, usage: null }] }),
        event(30, "usage.reported", {
          calls: [
            { ...modelCall, startedAt: 1_020 },
            { ...modelCall, startedAt: 1_030, incomplete: true },
          ],
        }),
        event(31, "usage.reported", { model: "opus" }),
      ],
    }),
    tree: `
POST /api/v2/dispatch server 1000-1000
  bridge.queue internal 1000-1010
  invoke_agent auditor client 1010-1050
    chat opus client 1011-1016 error 429
    chat opus client 1020-1025
    chat opus client 1030-1035 error incomplete
`,
  },
  {
    name: "a call of an unknown model that failed has a span without the name of a model",
    end: endOf({
      type: "execution.failed",
      task: { provider: "claude" },
      data: { connection: "api" },
      summary: { errorCode: "authentication_required" },
    }),
    tree: `
POST /api/v2/dispatch server 1000-1000
  bridge.queue internal 1000-1010
  invoke_agent auditor client 1010-1050 error authentication_required
    chat client 1010-1050 error authentication_required
`,
  },
  {
    name: "tools that succeed, fail and never return are below the run, and approvals below their tool",
    end: endOf({
      type: "execution.failed",
      summary: { errorCode: "timeout" },
      events: [
        ...[STARTED, called(11, "c1"), asked(12, "a1", "c1"), decided(15, "a1", "approved"), returned(16, "c1")],
        ...[called(17, "c2"), returned(18, "c2", true), called(19, "c3"), asked(20, "a3", "c3")],
      ],
    }),
    tree: `
POST /api/v2/dispatch server 1000-1000
  bridge.queue internal 1000-1010
  invoke_agent auditor internal 1010-1050 error timeout
    execute_tool look internal 1011-1016
      bridge.approval internal 1012-1015
    execute_tool look internal 1017-1018 error tool_error
    execute_tool look internal 1019-1050 error timeout
      bridge.approval internal 1020-1050
`,
  },
])("$name", ({ end, tree }) => {
  expect(draw(toSpans(end, options()))).toBe(tree);
});

test("the run of a child names its parent task, and belongs to the trace and the span of the parent", () => {
  const [queue, run] = toSpans(endOf({ task: { parentSeq: 3, parentTaskId: "p", traceparent: CALLER } }), options());
  for (const span of [queue, run])
    expect(span).toMatchObject({
      traceId: "0af7651916cd43dd8448eb211c80319c",
      parent: { spanId: "b7ad6b7169203331", isRemote: false },
    });
  expect(run?.attributes["bridge.parent_task.id"]).toBe("p");
});

test("the decision of an approval is an attribute, which is absent if the run ended first", () => {
  const events = [STARTED, called(11, "c1"), asked(12, "a1", "c1"), decided(15, "a1", "rejected"), asked(16, "a2", "c1")];
  const approvals = toSpans(endOf({ events }), options()).filter(({ name }) => name === "bridge.approval");
  expect(approvals.map(({ attributes }) => [attributes["bridge.approval.id"], attributes["bridge.approval.decision"]])).toEqual([
    ["a1", "rejected"],
    ["a2", undefined],
  ]);
});

test.for([
  { content: { messages: false, tools: false }, keys: [] },
  { content: { messages: true, tools: false }, keys: ["gen_ai.input.messages", "gen_ai.output.messages"] },
  { content: { messages: false, tools: true }, keys: ["gen_ai.tool.call.arguments", "gen_ai.tool.call.result"] },
])("content is in the spans exactly as far as it is turned on: $content", ({ content, keys }) => {
  const spans = toSpans(endOf({ events: [STARTED, called(11, "c1"), returned(12, "c1")] }), options(content));
  const found = new Set(spans.flatMap(({ attributes }) => Object.keys(attributes)));
  expect([...found].filter((key) => /messages|call\.(arguments|result)/.test(key)).toSorted()).toEqual(keys);
  if (keys.length === 0) expect(JSON.stringify(spans)).not.toMatch(/Look\.|All done|seen|"path"/);
});

const attempt = (number: number, status: number | null) =>
  JSON.stringify({ number, at: 2_000 + number, durationMs: 5, status, error: null });

test("a dead callback has a span for each attempt, and after a redelivery only the later attempts have one, with separate ids", () => {
  const history = [attempt(1, 500), attempt(2, null), attempt(3, 200)].join("\n");
  const url = "https://example.test/in";
  const dead = endOf({
    ...event(60, "callback.dead", { attempts: 2 }),
    type: "callback.dead",
    callback: { url, history: [attempt(1, 500), attempt(2, null)].join("\n"), previousEnd: null },
  });
  const redelivered = endOf({
    ...event(70, "callback.delivered", { attempts: 3 }),
    type: "callback.delivered",
    callback: { url, history, previousEnd: dead.head },
  });
  const first = toSpans(dead, options());
  expect(draw(first)).toBe(`
POST client 2001-2006 error 500
POST client 2002-2007 error no_response
`);
  const second = toSpans(redelivered, options());
  expect(draw(second)).toBe(`
POST client 2003-2008
`);
  expect(second[0]?.attributes).toMatchObject({
    "http.request.resend_count": 2,
    "http.response.status_code": 200,
    "server.address": "example.test",
    "server.port": 443,
  });
  const run = toSpans(endOf(), options());
  expect(new Set([...first, ...second, ...run].map(({ spanId }) => spanId)).size).toBe(first.length + second.length + run.length);
  expect(first[0]).toMatchObject({ traceId: run[0]?.traceId, parent: { spanId: run[0]?.spanId } });
});

test("the ids of a task are the same each time and differ from those of a later task with the same id", () => {
  const ids = (seq: number) =>
    toSpans(endOf({ task: { seq }, events: [STARTED, called(11, "c1")] }), options()).map(({ spanId }) => spanId);
  expect(ids(7)).toEqual(ids(7));
  expect(ids(7).filter((id) => ids(8).includes(id))).toEqual([]);
  for (const id of ids(7)) expect(id).toMatch(/^[0-9a-f]{16}$/);
});
