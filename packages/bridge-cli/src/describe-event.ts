import type { BridgeEvent, NormalizedUsage } from "bridge-client";
import { describeQuestion, formatUsd } from "./describe-question.ts";
import { cutToWidth } from "./display-width.ts";
import { formatCost, formatCount } from "./format.ts";
import { toOneLine } from "./show-hidden.ts";
import { paint, type Style, type Text } from "./text.ts";

/** Returns an event as one line for people, cut to the width of the terminal. */
export function describeEvent(event: BridgeEvent, columns: number, withTask: boolean): Text {
  const time = new Date(event.timestamp).toTimeString().slice(0, 8);
  const start = `${time}  ${withTask ? `${toOneLine(event.taskId)}  ` : ""}${event.type.padEnd(TYPE_WIDTH)}`;
  const text = toOneLine(describeData(event));
  const room = Math.max(columns - start.length - 2, MIN_TEXT_WIDTH);
  return [paint(styleOf(event), start), `  ${cutToWidth(text, room)}`];
}

/** Returns what happened, without the name of the event. */
function describeData({ type, data }: BridgeEvent): string {
  switch (type) {
    case "assistant.text":
      return data.content;
    case "tool.invoked":
      return `${data.toolName} ${toJson(data.input)}`;
    case "tool.completed":
      return `${data.toolName}${data.isError ? " failed" : ""} ${toJson(data.output)}`;
    case "execution.attempt": {
      const next = data.next === null ? "" : `; next ${data.next.provider}`;
      return `${data.provider} ${data.errorCode ?? "was skipped"}: ${data.reason ?? ""}${next}`;
    }
    case "usage.reported":
      return `${describeUsage(data.usage, data.costUsd)}; so far ${describeUsage(data.total.usage, data.total.costUsd)}`;
    case "budget.warning":
      return `${data.budget} has reached ${Math.round(data.share * 100)} % of its maximum`;
    case "tool.approval_requested":
      return `${data.approvalId} ${data.toolName} ${describeQuestion(data)}`;
    case "tool.approval_resolved":
      return `${data.approvalId} ${data.decision} by ${data.by}${describeRaise(data)}${data.reason === null ? "" : `: ${data.reason}`}`;
    case "execution.completed":
      return data.output ?? "";
    case "execution.failed":
      return `${data.errorCode ?? ""} ${data.error}`;
    default:
      return toJson(data);
  }
}

const describeRaise = ({ raiseByUsd }: { raiseByUsd?: number | null }): string =>
  raiseByUsd == null ? "" : `, raised by ${formatUsd(raiseByUsd)} USD`;

function describeUsage(usage: NormalizedUsage | null, costUsd: number | null): string {
  const tokens = usage === null ? "" : `${formatCount(usage.inputTokens)} in, ${formatCount(usage.outputTokens)} out, `;
  return `${tokens}${formatCost(costUsd)}`;
}

const TYPE_WIDTH = "tool.approval_requested".length;
const MIN_TEXT_WIDTH = 20;

function styleOf({ type }: BridgeEvent): Style {
  if (type === "execution.failed" || type === "callback.dead") return "red";
  if (type === "execution.completed" || type === "callback.delivered") return "green";
  return type === "tool.approval_requested" || type === "budget.warning" || type === "execution.attempt" ? "yellow" : "dim";
}

const toJson = (value: unknown): string => (typeof value === "string" ? value : (JSON.stringify(value) ?? ""));
