import { Registry } from "prom-client";

/** The part of a metric of prom-client that its registry uses. */
interface Metric {
  name: string;
  type: string;
  get(): Promise<{ name: string }>;
}

/** Returns whether an `Accept` header asks for the format OpenMetrics. The ranges with a wildcard do not. */
export function acceptsOpenMetrics(accept: string | undefined): boolean {
  return (accept ?? "").split(",").some((range) => {
    const [name = "", ...parameters] = range.split(";").map((part) => part.trim().toLowerCase());
    return name === "application/openmetrics-text" && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter));
  });
}

/** Renders metrics in the format OpenMetrics, which includes exemplars. */
export async function renderOpenMetrics(registry: Registry): Promise<{ contentType: string; text: string }> {
  const rendered = new Registry<typeof Registry.OPENMETRICS_CONTENT_TYPE>();
  rendered.setContentType(Registry.OPENMETRICS_CONTENT_TYPE);
  for (const metric of registry.getMetricsAsArray() as unknown as Metric[])
    rendered.registerMetric((metric.type === "counter" ? withoutSuffix(metric) : metric) as never);
  return { contentType: rendered.contentType, text: await rendered.metrics() };
}

/** In OpenMetrics, the name of a counter has no suffix. prom-client would rename the counter itself, also for the other format. */
const withoutSuffix = (counter: Metric): object => ({
  name: counter.name,
  type: counter.type,
  get: async () => ({ ...(await counter.get()), name: counter.name.replace(/_total$/, "") }),
});
