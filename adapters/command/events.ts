import { z } from "zod";
import { type AdapterEvent, adapterEventData, type ExecutionResult, executionResultSchema, taskErrorCodeSchema } from "#contract";
import { describeMedia } from "../shared/agent-program/describe-media.ts";
import { failure } from "../shared/process/failure.ts";
import { parseJsonLine } from "../shared/process/parse-json-line.ts";

type WithoutTask<Event> = Event extends AdapterEvent ? Omit<Event, "taskId"> : never;

/** An event of the program, without the task id. */
type CommandEvent = WithoutTask<AdapterEvent>;
/** The result that the program reports; Bridge adds the duration and the connection. */
export type CommandResult = Omit<ExecutionResult, "durationMs" | "connection">;

/** One parsed line of the program's output. */
export type ParsedLine =
  | { kind: "event"; event: CommandEvent }
  | { kind: "result"; result: CommandResult }
  /** A question whether a tool call may run; its fields are not checked. */
  | { kind: "approval"; fields: Record<string, unknown> }
  /** An event that only Bridge may emit. */
  | { kind: "dropped" }
  /** An event of a known type with a wrong or missing field; `fault` names the type and the fields. */
  | { kind: "malformed"; fault: string }
  | { kind: "text" };

/** Parses one line of stdout. A line that is not an event is text. */
export function readLine(line: string): ParsedLine {
  const object = parseJsonLine(line);
  if (object === null) return { kind: "text" };
  const { type } = object;
  if (type === "approval.request") return { kind: "approval", fields: object };
  if (type === "result") return { kind: "result", result: readResult(object) };
  if (type === "execution.started" || type === "execution.completed" || type === "execution.failed") return { kind: "dropped" };
  if (typeof type !== "string" || !Object.hasOwn(adapterEventData, type)) return { kind: "text" };
  // A copy without it would take as long as parsing the line.
  delete object["type"];
  const data = adapterEventData[type as CommandEvent["type"]].safeParse(object);
  if (data.success) return { kind: "event", event: describeOutput({ type, data: data.data } as CommandEvent) };
  const faults = data.error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`);
  return { kind: "malformed", fault: `${type} (${faults.join("; ")})` };
}

/** Replaces media in the output of a tool by their type and size. */
const describeOutput = (event: CommandEvent): CommandEvent =>
  event.type === "tool.completed" ? { ...event, data: { ...event.data, output: describeMedia(event.data.output) } } : event;

const resultFields = executionResultSchema
  .omit({ durationMs: true, connection: true })
  .partial()
  .extend({ errorCode: z.string().optional() });

function readResult(fields: Record<string, unknown>): CommandResult {
  // Many languages write an absent value as null. Further fields are ignored.
  const present = Object.fromEntries(
    Object.keys(resultFields.shape).flatMap((name) => (Object.hasOwn(fields, name) && fields[name] !== null ? [[name, fields[name]]] : [])),
  );
  const parsed = resultFields.safeParse(present);
  if (!parsed.success) {
    return failure("adapter_error", `The program's result line is not valid.\n${z.prettifyError(parsed.error)}`);
  }
  const { status, error, errorCode, ...rest } = parsed.data;
  const failed = status === "error" || (status === undefined && (error !== undefined || errorCode !== undefined));
  return failed ? { ...rest, status: "error", ...readError(error, errorCode) } : { ...rest, status: "ok" };
}

/** Moves an unknown error code into the error text. */
function readError(error: string | undefined, code: string | undefined): Pick<CommandResult, "error" | "errorCode"> {
  const known = taskErrorCodeSchema.safeParse(code);
  if (known.success) return { errorCode: known.data, error: error ?? `The program reported ${known.data}.` };
  const text = error ?? "The program reported an error.";
  return { errorCode: "adapter_error", error: code === undefined ? text : `${code}: ${text}` };
}
