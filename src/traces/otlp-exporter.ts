import {
  type Attributes,
  createTraceState,
  type DiagLogger,
  DiagLogLevel,
  diag,
  type HrTime,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
} from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { defaultResource, detectResources, envDetector, resourceFromAttributes, serviceNameEnvDetector } from "@opentelemetry/resources";
import type { ReadableSpan } from "@opentelemetry/sdk-trace";
import type { Logger } from "pino";
import { SCHEMA_URL, SCOPE_NAME } from "./names.ts";
import type { Span } from "./span.ts";

/** How the collector answered a batch. A batch that was `refused` can be sent again; one that was `rejected` cannot. */
export type ExportAnswer =
  | { kind: "sent"; rejected: number; message: string }
  | { kind: "rejected"; message: string }
  | { kind: "refused"; message: string };

/** Sends batches of spans to a collector. */
export interface OtlpExporter {
  send(spans: readonly Span[]): Promise<ExportAnswer>;
  close(): Promise<void>;
}

/** Options of `createOtlpExporter`. */
export interface OtlpExporterOptions {
  url: string;
  version: string;
  node: string;
  logger: Logger;
}

/** Statuses with which a collector rejects the content of a batch. It would reject the same batch again. */
const REJECTED_STATUSES: ReadonlySet<unknown> = new Set([400, 413, 415, 422]);
/** How the SDK reports that the collector rejected some spans of a batch. */
const PARTIAL_SUCCESS = "Received Partial Success response:";

/** Creates the exporter. The SDK reads headers, timeout, compression, certificates and resource attributes from the `OTEL_*` variables. */
export function createOtlpExporter({ url, version, node, logger }: OtlpExporterOptions): OtlpExporter {
  let rejected = { rejected: 0, message: "" };
  diag.setLogger(
    createDiagLogger(logger, (json) => {
      const { rejectedSpans = 0, errorMessage = "" } = JSON.parse(json) as { rejectedSpans?: number; errorMessage?: string };
      rejected = { rejected: rejectedSpans, message: errorMessage };
    }),
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
  const exporter = new OTLPTraceExporter({ url });
  const resource = defaultResource()
    .merge(resourceFromAttributes({ "service.name": "bridge", "service.version": version, "service.instance.id": node }))
    .merge(detectResources({ detectors: [envDetector, serviceNameEnvDetector] }));
  const scope = { name: SCOPE_NAME, version, schemaUrl: SCHEMA_URL };

  return {
    send: (spans) =>
      new Promise((resolve) => {
        rejected = { rejected: 0, message: "" };
        const readable = spans.map((span) => toReadableSpan(span, { resource, instrumentationScope: scope }));
        exporter.export(readable, ({ code, error }) => {
          if (code === 0) resolve({ kind: "sent", ...rejected });
          else resolve({ kind: isRejection(error) ? "rejected" : "refused", message: describe(error) });
        });
      }),
    async close() {
      await exporter.shutdown();
      diag.disable();
    },
  };
}

const isRejection = (error: unknown): boolean => REJECTED_STATUSES.has((error as { code?: unknown } | undefined)?.code);

function describe(error: Error | undefined): string {
  const { code } = (error ?? {}) as { code?: unknown };
  return `${code === undefined ? "" : `${String(code)} `}${error?.message ?? "unknown error"}`.slice(0, 500);
}

function createDiagLogger(logger: Logger, onPartialSuccess: (json: string) => void): DiagLogger {
  const warn = (message: string, ...values: unknown[]): void => {
    if (message === PARTIAL_SUCCESS) onPartialSuccess(String(values[0]));
    else logger.warn({ reason: message }, "warning of the OpenTelemetry SDK");
  };
  const ignore = (): void => {};
  return { error: warn, warn, info: ignore, debug: ignore, verbose: ignore };
}

const kinds = { server: SpanKind.SERVER, client: SpanKind.CLIENT, internal: SpanKind.INTERNAL } as const;

function toReadableSpan(span: Span, shared: Pick<ReadableSpan, "resource" | "instrumentationScope">): ReadableSpan {
  const { traceId, tracestate, parent } = span;
  const traceState = tracestate === undefined ? {} : { traceState: createTraceState(tracestate) };
  const toContext = (spanId: string, isRemote: boolean): SpanContext => ({ traceId, spanId, traceFlags: 1, isRemote, ...traceState });
  return {
    ...shared,
    name: span.name,
    kind: kinds[span.kind],
    spanContext: () => toContext(span.spanId, false),
    ...(parent !== null && { parentSpanContext: toContext(parent.spanId, parent.isRemote) }),
    startTime: toHrTime(span.startAt),
    endTime: toHrTime(span.endAt),
    duration: toHrTime(span.endAt - span.startAt),
    status: { code: span.isError ? SpanStatusCode.ERROR : SpanStatusCode.UNSET },
    attributes: span.attributes as Attributes,
    ...{ links: [], events: [], ended: true, droppedAttributesCount: 0, droppedEventsCount: 0, droppedLinksCount: 0 },
  };
}

const toHrTime = (ms: number): HrTime => [Math.floor(ms / 1000), Math.round((ms % 1000) * 1_000_000)];
