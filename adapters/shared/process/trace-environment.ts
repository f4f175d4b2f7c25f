import type { ExecutionRequest } from "#contract";

/** The trace context of a task. */
export type TraceContext = Pick<ExecutionRequest, "traceparent" | "tracestate">;

/** Returns the variables that pass a trace context to a process, as OpenTelemetry names them. */
export const toTraceEnvironment = ({ traceparent, tracestate }: TraceContext): Record<string, string> => ({
  ...(traceparent !== undefined && { TRACEPARENT: traceparent }),
  ...(tracestate !== undefined && { TRACESTATE: tracestate }),
});
