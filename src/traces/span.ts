/** The value of an attribute. */
export type AttributeValue = string | number | boolean | readonly string[];

/** A span that has ended. Times are ms since the epoch. */
export interface Span {
  name: string;
  kind: "server" | "client" | "internal";
  traceId: string;
  spanId: string;
  /** The `tracestate` of the caller, if it sent one. */
  tracestate?: string;
  /** Null for the root of a trace. */
  parent: { spanId: string; isRemote: boolean } | null;
  startAt: number;
  endAt: number;
  attributes: Readonly<Record<string, AttributeValue>>;
  /** Whether the operation failed. The error is in the attribute `error.type`. */
  isError: boolean;
}
