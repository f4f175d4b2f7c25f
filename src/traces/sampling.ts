import { ROOT_CONTEXT } from "@opentelemetry/api";
import { SamplingDecision, TraceIdRatioBasedSampler } from "@opentelemetry/sdk-trace";
import type { TraceSettings } from "../config/trace-settings.ts";
import { readTraceparent, type TracedTask, traceIdOf } from "../trace-context.ts";

/** Creates the function that decides whether the trace of a task is exported. The decision is the same on all nodes. */
export function createSampling({ name, ratio }: TraceSettings["sampler"]): (task: TracedTask) => boolean {
  const sampler = new TraceIdRatioBasedSampler(name.endsWith("always_on") ? 1 : name.endsWith("always_off") ? 0 : ratio);
  return (task) => {
    const caller = name.startsWith("parentbased_") ? readTraceparent(task.traceparent) : null;
    if (caller !== null) return caller.isSampled;
    return sampler.shouldSample(ROOT_CONTEXT, traceIdOf(task)).decision === SamplingDecision.RECORD_AND_SAMPLED;
  };
}
