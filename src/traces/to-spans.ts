import type { NormalizedUsage } from "#contract";
import type { CallbackAttempt } from "../store/posts/interface.ts";
import type { TraceEnd } from "../store/traces/interface.ts";
import { readTraceparent, type TraceIds, traceIdsOf } from "../trace-context.ts";
import { formatMessage } from "./cut-content.ts";
import type { ProviderTraits } from "./describe-providers.ts";
import { names } from "./names.ts";
import { listCalls, parseObject, readLast, readText } from "./read-event-data.ts";
import type { AttributeValue, Span } from "./span.ts";
import { createToolSpans } from "./tool-spans.ts";

/** What the spans contain besides the events. */
export interface SpanOptions {
  /** The content that is recorded. */
  content: { messages: boolean; tools: boolean };
  traitsOf(provider: string): ProviderTraits;
}

/** Connections on which another service runs the task. */
const REMOTE_CONNECTIONS: ReadonlySet<string | null> = new Set(["api", "http-api", "native-dispatch"]);

/** Returns the spans of what has ended: of a run with its tools and approvals, or of the attempts of a callback. */
export function toSpans(end: TraceEnd, options: SpanOptions): Span[] {
  const ids = traceIdsOf(end.task);
  const spans = end.callback === null ? toRunSpans(end, ids, options) : toAttemptSpans(end, end.callback, ids);
  const { tracestate } = end.task;
  return tracestate === null ? spans : spans.map((span) => ({ ...span, tracestate }));
}

function toRunSpans(end: TraceEnd, ids: TraceIds, options: SpanOptions): Span[] {
  const { task, events, at } = end;
  const startedAt = events.find(({ type }) => type === "execution.started")?.at ?? task.createdAt;
  const caller = readTraceparent(task.traceparent);
  // A child task belongs to the run of its parent, which its traceparent contains.
  const isChild = task.parentSeq !== null && caller !== null;
  const dispatchId = ids.spanId("dispatch");
  const parent = isChild ? { spanId: caller.spanId, isRemote: false } : { spanId: dispatchId, isRemote: false };
  const dispatch: Span = {
    ...{ traceId: ids.traceId, name: `POST ${names.dispatchRoute}`, kind: "server", spanId: dispatchId, isError: false },
    parent: caller === null ? null : { spanId: caller.spanId, isRemote: true },
    ...{ startAt: task.createdAt, endAt: task.createdAt },
    attributes: { [names.method]: "POST", [names.route]: names.dispatchRoute, [names.status]: 202, ...identify(end) },
  };
  const queue: Span = {
    ...{ traceId: ids.traceId, name: names.queueSpan, kind: "internal", spanId: ids.spanId("queue"), parent, isError: false },
    ...{ startAt: task.createdAt, endAt: Math.max(task.createdAt, startedAt) },
    attributes: identify(end),
  };
  const agent = toAgentSpan(end, { ...options, ids, parent, startedAt });
  const calls = toCallSpans(end, agent, ids, options);
  const { callsModel } = options.traitsOf(task.provider);
  const tools = createToolSpans({ ids, agent, events, end: { at, errorCode: end.summary.errorCode }, withContent: options.content.tools });
  return [
    ...(isChild ? [] : [dispatch]),
    ...[queue, agent, ...tools],
    ...(calls.length > 0 ? calls : callsModel(readLast(end, "connection")) ? [toChatSpan(end, agent, ids, options)] : []),
  ];
}

interface AgentOptions extends SpanOptions {
  ids: TraceIds;
  parent: Span["parent"];
  startedAt: number;
}

function toAgentSpan(end: TraceEnd, { ids, parent, startedAt, content, traitsOf }: AgentOptions): Span {
  const { task, summary, at } = end;
  const { vendor, isWorkflow } = traitsOf(task.provider);
  const connection = readLast(end, "connection");
  const operation = isWorkflow ? "invoke_workflow" : "invoke_agent";
  const request = parseObject(end.request);
  const { requestModel, errorType } = names;
  return {
    name: `${operation} ${isWorkflow ? task.provider : task.agentId}`,
    kind: !isWorkflow && REMOTE_CONNECTIONS.has(connection) ? "client" : "internal",
    ...{ traceId: ids.traceId, spanId: ids.spanId("agent"), parent, startAt: startedAt, endAt: Math.max(startedAt, at) },
    attributes: {
      [names.operation]: operation,
      [names.vendor]: vendor ?? task.provider,
      [names.agent]: task.agentId,
      ...optional(names.conversation, request?.["resumeToken"]),
      ...optional(requestModel, request?.["model"]),
      ...modelAttributes(end),
      ...optional(names.profile, request?.["profile"]),
      ...optional(names.connection, connection),
      ...optional(names.cost, summary.costUsd),
      ...optional(errorType, summary.errorCode),
      ...identify(end),
      ...(task.parentTaskId !== null && { [names.parentTask]: task.parentTaskId }),
      ...(content.messages ? messageAttributes(end) : {}),
    },
    isError: end.type === "execution.failed",
  };
}

/** One span for each call of the model that the log contains. */
function toCallSpans({ task, events }: TraceEnd, agent: Span, { traceId, spanId }: TraceIds, { traitsOf }: SpanOptions): Span[] {
  return listCalls(events).map(({ model, usage, costUsd, startedAt, durationMs, status, incomplete }, index) => {
    const isError = status === null || status >= 400 || incomplete === true;
    return {
      name: model === null ? "chat" : `chat ${model}`,
      kind: "client",
      ...{ traceId, spanId: spanId("chat", index + 1), parent: { spanId: agent.spanId, isRemote: false } },
      ...{ startAt: startedAt, endAt: startedAt + durationMs, isError },
      attributes: {
        [names.operation]: "chat",
        [names.vendor]: traitsOf(task.provider).vendor ?? task.provider,
        ...optional(names.requestModel, agent.attributes[names.requestModel] ?? model),
        ...optional(names.responseModel, model),
        ...usageAttributes(usage),
        ...optional(names.cost, costUsd),
        ...optional(names.status, status),
        ...(isError && { [names.errorType]: status === null || status < 400 ? "incomplete" : String(status) }),
      },
    };
  });
}

/** One span for all calls of the model in the run, because the log does not contain each of them. */
function toChatSpan(end: TraceEnd, agent: Span, { traceId, spanId }: TraceIds, { content, traitsOf }: SpanOptions): Span {
  const { summary, task } = end;
  return {
    name: summary.model === null ? "chat" : `chat ${summary.model}`,
    kind: "client",
    ...{ traceId, spanId: spanId("chat"), parent: { spanId: agent.spanId, isRemote: false }, startAt: agent.startAt, endAt: agent.endAt },
    attributes: {
      [names.operation]: "chat",
      [names.vendor]: traitsOf(task.provider).vendor ?? task.provider,
      ...optional(names.requestModel, agent.attributes[names.requestModel] ?? summary.model),
      ...modelAttributes(end),
      ...optional(names.errorType, summary.errorCode),
      ...(content.messages ? messageAttributes(end) : {}),
    },
    isError: agent.isError,
  };
}

function modelAttributes({ summary: { model, usage }, type }: TraceEnd): Span["attributes"] {
  return {
    // The summary of a failed run contains the requested model.
    ...(type === "execution.completed" ? optional(names.responseModel, model) : {}),
    ...usageAttributes(usage),
  };
}

const usageAttributes = (usage: NormalizedUsage | null): Span["attributes"] => ({
  ...optional(names.inputTokens, usage?.inputTokens),
  ...optional(names.outputTokens, usage?.outputTokens),
  ...optional(names.reasoningTokens, usage?.thinkingTokens),
  ...optional(names.cacheReadTokens, usage?.cacheReadTokens),
  ...optional(names.cacheWriteTokens, usage?.cacheWriteTokens),
});

function messageAttributes(end: TraceEnd): Span["attributes"] {
  const input = readText({ head: end.request, tail: "" }, "message");
  const output = readText(end, "output");
  return {
    ...(input !== null && { [names.inputMessages]: formatMessage("user", input) }),
    ...(output !== null && { [names.outputMessages]: formatMessage("assistant", output) }),
  };
}

/** The attempts since the earlier end of the callback, whose spans were exported with that end. */
function toAttemptSpans(end: TraceEnd, { url, history, previousEnd }: NonNullable<TraceEnd["callback"]>, ids: TraceIds): Span[] {
  const total = countAttempts(end.head);
  const exported = previousEnd === null ? 0 : countAttempts(previousEnd);
  const { hostname, port, protocol } = new URL(url);
  const attempts = (history ?? "").split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line) as CallbackAttempt]));
  return attempts
    .filter(({ number }) => number > exported && number <= total)
    .map(({ number, at, durationMs, status }) => {
      const isError = status === null || status < 200 || status > 299;
      return {
        ...{ name: "POST", kind: "client", traceId: ids.traceId, spanId: ids.spanId("attempt", number), isError },
        parent: { spanId: ids.spanId("dispatch"), isRemote: false },
        ...{ startAt: at, endAt: at + durationMs },
        attributes: {
          [names.method]: "POST",
          [names.serverAddress]: hostname,
          [names.serverPort]: Number(port) || (protocol === "https:" ? 443 : 80),
          ...optional(names.status, status),
          ...(number > 1 && { [names.resendCount]: number - 1 }),
          ...(isError && { [names.errorType]: status === null ? "no_response" : String(status) }),
          ...identify(end),
        },
      };
    });
}

const countAttempts = (data: string): number => Number(/"attempts":(\d+)/.exec(data)?.[1] ?? 0);

const identify = ({ task: { taskId, tenant, provider } }: TraceEnd): Span["attributes"] => ({
  [names.task]: taskId,
  [names.tenant]: tenant,
  [names.provider]: provider,
});

function optional(name: string, value: unknown): Record<string, AttributeValue> {
  return typeof value === "string" || typeof value === "number" ? { [name]: value } : {};
}
