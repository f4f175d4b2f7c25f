import { ROOT_CONTEXT } from "@opentelemetry/api";
import { SamplingDecision, TraceIdRatioBasedSampler } from "@opentelemetry/sdk-trace";
import type { TraceSettings } from "../config/trace-settings.ts";
import { readTraceparent, type TracedTask, traceIdsOf } from "../trace-context.ts";

/** Creates the function that decides whether the trace of a task is exported. The decision is the same on all nodes. */
export function createSampling(sampler: TraceSettings["sampler"]): (task: TracedTask) => boolean {
  const isSampledById = createSamplingById(sampler);
  if (!sampler.name.startsWith("parentbased_")) return isSampledById;
  return (task) => readTraceparent(task.traceparent)?.isSampled ?? isSampledById(task);
}

function createSamplingById({ name, ratio }: TraceSettings["sampler"]): (task: TracedTask) => boolean {
  // These samplers need no trace id, which would cost a hash.
  if (name.endsWith("always_on")) return () => true;
  if (name.endsWith("always_off")) return () => false;
  const sampler = new TraceIdRatioBasedSampler(ratio);
  return (task) => sampler.shouldSample(ROOT_CONTEXT, traceIdsOf(task).traceId).decision === SamplingDecision.RECORD_AND_SAMPLED;
}
