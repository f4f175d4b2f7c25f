import type { ExecutionRequest } from "#contract";

/** The trace context of a task, as its request contains it. */
export type RequestTrace = Pick<ExecutionRequest, "traceparent" | "tracestate">;

/** Returns an environment with the trace context of a task in the variables that OpenTelemetry names. Without one, it stays as it is. */
export function withTraceContext(
  env: Readonly<Record<string, string>>,
  { traceparent, tracestate }: RequestTrace,
): Readonly<Record<string, string>> {
  if (traceparent === undefined) return env;
  // A TRACESTATE of the environment belongs to another TRACEPARENT.
  const { TRACESTATE: _, ...others } = env;
  return { ...others, TRACEPARENT: traceparent, ...(tracestate !== undefined && { TRACESTATE: tracestate }) };
}
