import type { NormalizedUsage } from "#contract";
import type { Protocol } from "./protocol.ts";

/** Maximum number of tokens that a model reads in one call: the largest context window that a vendor offers. */
const MAX_INPUT_TOKENS = 2_000_000;
/** Characters around the end of a chunk that are searched again with the next one. Longer than a name with its number. */
const OVERLAP = 64;

export type RequestReader = ReturnType<typeof createRequestReader>;

/** Creates the reader of one request. It finds out how much the call can cost at most, and keeps nothing of the request. */
export function createRequestReader({ outputLimit }: Pick<Protocol, "outputLimit">) {
  // A quotation mark inside of a text is escaped, so this finds no text of a message.
  const pattern = new RegExp(`(?<!\\\\)"(?:${outputLimit.names.join("|")})"\\s*:\\s*(\\d{1,9})(?=\\D)`, "g");
  let bytes = 0;
  let end = "";
  /** Null if the request names no limit. */
  let maxOutput: number | null = null;

  return {
    add(chunk: Buffer): void {
      bytes += chunk.length;
      const seam = end + chunk.toString("latin1", 0, OVERLAP);
      const isNamed = outputLimit.names.some((name) => chunk.includes(name) || seam.includes(name));
      const text = isNamed ? end + chunk.toString("latin1") : "";
      // The input of a tool can contain the name, too, so the largest number counts.
      for (const [, count] of text.matchAll(pattern)) maxOutput = Math.max(maxOutput ?? 0, Number(count));
      end = (end + chunk.toString("latin1", Math.max(0, chunk.length - OVERLAP))).slice(-OVERLAP);
    },
    /** Returns the largest usage that the call can have, if its response has only reported `counted`. A token has at least one byte. */
    findLargestUsage: (counted: NormalizedUsage = { inputTokens: 0, outputTokens: 0 }): NormalizedUsage => ({
      ...counted,
      inputTokens: counted.inputTokens > 0 ? counted.inputTokens : Math.min(bytes, MAX_INPUT_TOKENS),
      outputTokens: Math.max(counted.outputTokens, maxOutput ?? outputLimit.largest),
    }),
  };
}
