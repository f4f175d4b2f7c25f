/** Returns the `traceparent` header (W3C Trace Context); null if it is missing or invalid. */
export function parseTraceparent(header: string | undefined): string | null {
  const [, version, traceId, parentId, rest] =
    /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-[\x20-\x7e]*)?$/.exec(header ?? "") ?? [];
  if (version === undefined || version === "ff" || /^0+$/.test(traceId ?? "") || /^0+$/.test(parentId ?? "")) return null;
  // Later versions may have more than four fields; version 00 has exactly four.
  return header === undefined || (version === "00" && rest !== undefined) || header.length > 512 ? null : header;
}
