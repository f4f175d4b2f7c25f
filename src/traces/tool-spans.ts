import { UNREPORTED_END } from "../events/unreported-end.ts";
import type { TraceEvent } from "../store/traces/interface.ts";
import type { TraceIds } from "../trace-context.ts";
import { cutContent } from "./cut-content.ts";
import { names } from "./names.ts";
import { readJson, readLast, readText } from "./read-event-data.ts";
import type { Span } from "./span.ts";

interface ToolSpanOptions {
  ids: TraceIds;
  /** The run, which is the parent of all calls. */
  agent: Pick<Span, "spanId">;
  events: readonly TraceEvent[];
  /** The end of the run, which ends the calls that have no end in the log. */
  end: { at: number; errorCode: string | null };
  withContent: boolean;
}

/** A span that has begun. */
interface Begun {
  event: TraceEvent;
  spanId: string;
  parentId: string;
}

/** Returns the spans of the tool calls of a run, and of the approvals for which they waited. */
export function createToolSpans({ ids, agent, events, end, withContent }: ToolSpanOptions): Span[] {
  const spans: Span[] = [];
  /** The open calls and the pending approvals, by id. */
  const calls = new Map<string, Begun>();
  const approvals = new Map<string, Begun>();

  function endCall(id: string, { event, spanId, parentId }: Begun, completed: TraceEvent | null): void {
    const tool = readText(event, "toolName") ?? "";
    const isError = completed === null ? end.errorCode !== null : readLast(completed, "isError") === "true";
    const input = withContent ? readJson(event, "input") : null;
    const output = withContent && completed !== null ? readJson(completed, "output") : null;
    spans.push({
      ...{ name: `execute_tool ${tool}`, kind: "internal", traceId: ids.traceId, spanId, parent: { spanId: parentId, isRemote: false } },
      ...timesOf(event, completed?.at ?? end.at),
      attributes: {
        [names.operation]: "execute_tool",
        [names.tool]: tool,
        [names.toolCall]: id,
        ...(isError && { [names.errorType]: completed === null ? (end.errorCode as string) : "tool_error" }),
        ...(input !== null && { [names.toolArguments]: cutContent(input) }),
        ...(output !== null && { [names.toolResult]: cutContent(output) }),
      },
      isError,
    });
  }

  function endApproval(id: string, { event, spanId, parentId }: Begun, resolved: TraceEvent | null): void {
    const decision = resolved === null ? null : readText(resolved, "decision");
    spans.push({
      ...{ name: names.approvalSpan, kind: "internal", traceId: ids.traceId, spanId, parent: { spanId: parentId, isRemote: false } },
      ...timesOf(event, resolved?.at ?? end.at),
      attributes: {
        [names.approval]: id,
        [names.tool]: readText(event, "toolName") ?? "",
        ...(decision !== null && { [names.decision]: decision }),
      },
      isError: false,
    });
  }

  for (const event of events) {
    const call = readText(event, "toolCallId") ?? "";
    if (event.type === "tool.invoked") {
      const earlier = calls.get(call);
      if (earlier !== undefined) endCall(call, earlier, null);
      calls.set(call, { event, spanId: ids.spanId("event", event.number), parentId: agent.spanId });
    } else if (event.type === "tool.completed") {
      const begun = calls.get(call);
      calls.delete(call);
      // The error of the run is the reason why the runtime reported no end.
      const hasEnd = readJson(event, "output") !== JSON.stringify(UNREPORTED_END);
      if (begun !== undefined) endCall(call, begun, hasEnd ? event : null);
    } else if (event.type === "tool.approval_requested") {
      const parentId = calls.get(call)?.spanId ?? agent.spanId;
      approvals.set(readText(event, "approvalId") ?? "", { event, spanId: ids.spanId("event", event.number), parentId });
    } else if (event.type === "tool.approval_resolved") {
      const id = readText(event, "approvalId") ?? "";
      const begun = approvals.get(id);
      approvals.delete(id);
      if (begun !== undefined) endApproval(id, begun, event);
    }
  }
  for (const [id, begun] of calls) endCall(id, begun, null);
  for (const [id, begun] of approvals) endApproval(id, begun, null);
  return spans;
}

/** The system clock may have been set back between the two events. */
const timesOf = ({ at }: TraceEvent, endAt: number): Pick<Span, "startAt" | "endAt"> => ({ startAt: at, endAt: Math.max(at, endAt) });
