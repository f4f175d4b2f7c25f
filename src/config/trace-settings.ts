/** The settings of traces. */
export interface TraceSettings {
  /** Where the collector receives spans. */
  url: string;
  /** The content that spans contain. */
  content: { messages: boolean; tools: boolean };
  /** Which traces are exported. */
  sampler: { name: SamplerName; ratio: number };
}

const samplers = [
  "always_on",
  "always_off",
  "traceidratio",
  "parentbased_always_on",
  "parentbased_always_off",
  "parentbased_traceidratio",
] as const;
type SamplerName = (typeof samplers)[number];

/** The values of the settings of traces. */
interface TraceValues {
  endpoint: string | null;
  tracesEndpoint: string | null;
  sampler: string;
  samplerArg: string | null;
  disabled: string | null;
  content: readonly ("messages" | "tools")[];
}

/** Returns the settings of traces; null if they are off. */
export function readTraceSettings(values: TraceValues): TraceSettings | null {
  if (!areOn(values)) return null;
  const base = values.endpoint;
  return {
    url: values.tracesEndpoint ?? `${base?.replace(/\/$/, "")}/v1/traces`,
    content: { messages: values.content.includes("messages"), tools: values.content.includes("tools") },
    sampler: { name: values.sampler as SamplerName, ratio: Number(values.samplerArg ?? 1) },
  };
}

/** Returns the faults of variables that other programs use too. Without traces, Bridge ignores these variables. */
export function findTraceFaults(values: TraceValues, env: Readonly<Record<string, string | undefined>>): string[] {
  if (!areOn(values)) return [];
  const ratio = Number(values.samplerArg ?? 1);
  const protocol = env["OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"] ?? env["OTEL_EXPORTER_OTLP_PROTOCOL"] ?? PROTOCOL;
  return [
    !(samplers as readonly string[]).includes(values.sampler) && `OTEL_TRACES_SAMPLER: must be one of ${samplers.join(", ")}`,
    values.sampler.endsWith("traceidratio") && !(ratio >= 0 && ratio <= 1) && "OTEL_TRACES_SAMPLER_ARG: must be a number from 0 to 1",
    protocol !== PROTOCOL &&
      `OTEL_EXPORTER_OTLP_PROTOCOL: Bridge exports traces over ${PROTOCOL} only; unset it, and use the collector's HTTP port, which is usually 4318`,
  ].filter((fault) => fault !== false);
}

const PROTOCOL = "http/protobuf";

const areOn = (values: TraceValues): boolean =>
  values.disabled?.trim().toLowerCase() !== "true" && (values.endpoint ?? values.tracesEndpoint) !== null;
