/** The W3C trace context of a request; null when there is none or it is malformed, which the standard says to ignore. */
export function parseTraceparent(header: string | undefined): string | null {
  const [, version, traceId, parentId, rest] =
    /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-[\x20-\x7e]*)?$/.exec(header ?? "") ?? [];
  if (version === undefined || version === "ff" || /^0+$/.test(traceId ?? "") || /^0+$/.test(parentId ?? "")) return null;
  // A later version may say more after the four fields; the first one does not.
  return header === undefined || (version === "00" && rest !== undefined) || header.length > 512 ? null : header;
}
