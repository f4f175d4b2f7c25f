import { noTraceContext, type TraceContext } from "../../task.ts";

/** Maximum number of entries of a `tracestate`. */
const MAX_ENTRIES = 32;
/** Maximum characters of a `traceparent`, and of a `tracestate`. */
const MAX_LENGTH = 512;

/** An entry of a `tracestate`: a key, an equals sign and a value that does not end with a space. An entry may be empty. */
const ENTRY = /^[ \t]*([a-z0-9][a-z0-9_\-*/@]{0,255}=[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e][ \t]*)?$/;

/** Returns the valid ones of the headers of the W3C Trace Context. A `tracestate` without a valid `traceparent` is ignored. */
export function parseTraceContext(headers: { traceparent?: string | undefined; tracestate?: string | undefined }): TraceContext {
  const traceparent = parseTraceparent(headers.traceparent);
  return traceparent === null ? noTraceContext : { traceparent, tracestate: parseTracestate(headers.tracestate) };
}

function parseTracestate(header = ""): string | null {
  const entries = header.split(",");
  if (header.length > MAX_LENGTH || entries.length > MAX_ENTRIES || !entries.every((entry) => ENTRY.test(entry))) return null;
  const keys = entries.map((entry) => entry.trim().split("=")[0]).filter((key) => key !== "");
  return keys.length > 0 && new Set(keys).size === keys.length ? header : null;
}

function parseTraceparent(header: string | undefined): string | null {
  const [, version, traceId, parentId, rest] =
    /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-[\x20-\x7e]*)?$/.exec(header ?? "") ?? [];
  if (version === undefined || version === "ff" || /^0+$/.test(traceId ?? "") || /^0+$/.test(parentId ?? "")) return null;
  // Later versions may have more than four fields; version 00 has exactly four.
  return header === undefined || (version === "00" && rest !== undefined) || header.length > MAX_LENGTH ? null : header;
}
