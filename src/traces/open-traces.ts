import type { Logger } from "pino";
import type { TraceSettings } from "../config/trace-settings.ts";
import { StartError } from "../errors.ts";
import type { TracedTask } from "../trace-context.ts";
import type { OtlpExporter } from "./otlp-exporter.ts";

/** What the export of traces needs of the OpenTelemetry packages. */
export interface OpenedTraces {
  otlp: OtlpExporter;
  isSampled(task: TracedTask): boolean;
}

const PACKAGES = "@opentelemetry/api @opentelemetry/exporter-trace-otlp-proto @opentelemetry/resources @opentelemetry/sdk-trace";

/** Loads the OpenTelemetry packages, which a Bridge without traces never does. Throws StartError if they are not installed. */
export async function openTraces(
  { url, sampler }: TraceSettings,
  options: { version: string; node: string; logger: Logger },
): Promise<OpenedTraces> {
  try {
    const [{ createOtlpExporter }, { createSampling }] = await Promise.all([import("./otlp-exporter.ts"), import("./sampling.ts")]);
    return { otlp: createOtlpExporter({ url, ...options }), isSampled: createSampling(sampler) };
  } catch (error) {
    if ((error as { code?: unknown }).code !== "ERR_MODULE_NOT_FOUND") throw error;
    throw new StartError(
      `Bridge cannot start: OTEL_EXPORTER_OTLP_ENDPOINT turns on traces, and the OpenTelemetry packages are not installed. ` +
        `Unset it, or run: npm install --no-save ${PACKAGES}`,
    );
  }
}
