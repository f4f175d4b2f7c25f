import { gunzipSync } from "node:zlib";
import definitions from "otlp-definitions/build/src/generated/root.js";
import { startReceiver } from "../support/start-receiver.ts";

/** A span as a collector receives it, decoded with the protobuf definitions of OTLP. */
export interface ReceivedSpan {
  name: string;
  kind: string;
  traceId: string;
  spanId: string;
  /** Empty without one. */
  tracestate: string;
  /** Empty for the root of a trace. */
  parentSpanId: string;
  startAt: number;
  endAt: number;
  isError: boolean;
  attributes: Record<string, unknown>;
  scope: { name: string; schemaUrl: string };
  resource: Record<string, unknown>;
}

/** How the collector answers a request: with a status, or with a number of rejected spans. */
export type CollectorAnswer = number | { rejectedSpans: number; errorMessage: string };

const { ExportTraceServiceRequest, ExportTraceServiceResponse } = definitions.opentelemetry.proto.collector.trace.v1;

/** Starts a collector on a free port of 127.0.0.1. `answer` decides on each request; spans that are not accepted are not recorded. */
export async function startCollector(answer: (number: number) => CollectorAnswer = () => 200) {
  const spans: ReceivedSpan[] = [];
  const sizes: number[] = [];
  const receiver = await startReceiver((response, request, number) => {
    const answered = answer(number);
    const body = receiver.posts.at(-1)?.body ?? Buffer.alloc(0);
    const plain = request.headers["content-encoding"] === "gzip" ? gunzipSync(body) : body;
    const decoded = request.headers["content-type"] === "application/x-protobuf" ? readSpans(plain) : [];
    sizes.push(decoded.length);
    if (answered === 200) spans.push(...decoded);
    const partialSuccess = typeof answered === "number" ? {} : { partialSuccess: answered };
    response.writeHead(typeof answered === "number" ? answered : 200, { "content-type": "application/x-protobuf" });
    response.end(ExportTraceServiceResponse.encode(partialSuccess).finish());
  });
  return {
    settings: { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.origin },
    port: receiver.port,
    /** The spans of all accepted requests, in order; a repeated span is there twice. */
    spans,
    /** The accepted spans, each once. */
    unique: () => [...new Map(spans.map((span) => [`${span.traceId}/${span.spanId}`, span])).values()],
    /** The number of spans of each request. */
    sizes,
    requests: receiver.posts,
    close: receiver.close,
  };
}

function readSpans(body: Buffer): ReceivedSpan[] {
  // biome-ignore lint/suspicious/noExplicitAny: the generated classes have no types.
  const message: any = ExportTraceServiceRequest.toObject(ExportTraceServiceRequest.decode(body), {
    longs: Number,
    enums: String,
    defaults: true,
  });
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  return message.resourceSpans.flatMap(({ resource, scopeSpans }: any) =>
    // biome-ignore lint/suspicious/noExplicitAny: as above.
    scopeSpans.flatMap(({ scope, schemaUrl, spans }: any) =>
      // biome-ignore lint/suspicious/noExplicitAny: as above.
      spans.map((span: any) => ({
        name: span.name,
        kind: String(span.kind).replace("SPAN_KIND_", ""),
        traceId: toHex(span.traceId),
        spanId: toHex(span.spanId),
        tracestate: String(span.traceState),
        parentSpanId: toHex(span.parentSpanId),
        startAt: Math.round(span.startTimeUnixNano / 1e6),
        endAt: Math.round(span.endTimeUnixNano / 1e6),
        isError: span.status?.code === "STATUS_CODE_ERROR",
        attributes: toAttributes(span.attributes),
        scope: { name: scope.name, schemaUrl },
        resource: toAttributes(resource.attributes),
      })),
    ),
  );
}

const toHex = (bytes: Uint8Array | undefined): string => Buffer.from(bytes ?? []).toString("hex");

// biome-ignore lint/suspicious/noExplicitAny: as above.
const toAttributes = (list: any[]): Record<string, unknown> =>
  Object.fromEntries(
    list.map(({ key, value }) => [
      key,
      value[Object.keys(value).find((field) => field.endsWith("Value") && value[field] !== null) as string],
    ]),
  );

/** The spans as a tree: one line for each, its children indented below it in the order of their times. */
export function drawTree(
  spans: readonly ReceivedSpan[],
  describe: (span: ReceivedSpan) => string = ({ kind, name }) => `${kind} ${name}`,
): string {
  const ids = new Set(spans.map(({ spanId }) => spanId));
  const draw = (parent: string | null, depth: number): string[] =>
    spans
      .filter(({ parentSpanId }) => (parent === null ? !ids.has(parentSpanId) : parentSpanId === parent))
      .toSorted((a, b) => a.startAt - b.startAt || (a.name < b.name ? -1 : 1))
      .flatMap((span) => [`${"  ".repeat(depth)}${describe(span)}`, ...draw(span.spanId, depth + 1)]);
  return draw(null, 0).join("\n");
}
