import type { Intensity } from "./types.ts";

/** Size of the scope. Unknown measures are absent. */
export interface Size {
  files?: number;
  linesOfCode?: number;
}

/** Base time in seconds: the first row whose limit covers the measure. Source: the bridge contract, "Timeout Estimation". */
const bases: readonly { seconds: number; files: (count: number) => boolean; linesOfCode: (count: number) => boolean }[] = [
  { seconds: 60, files: (count) => count < 5, linesOfCode: (count) => count < 500 },
  { seconds: 180, files: (count) => count <= 20, linesOfCode: (count) => count < 2_000 },
  { seconds: 300, files: (count) => count < 50, linesOfCode: (count) => count < 10_000 },
  { seconds: 600, files: () => true, linesOfCode: () => true },
];

/** Base time of a scope of unknown size. */
const UNKNOWN_SIZE_SECONDS = 180;

/** Factor of each intensity. */
export const intensityMultipliers: Readonly<Record<Intensity, number>> = { quick: 0.5, standard: 1, thorough: 1.5 };

/** Returns the time limit of one answer in seconds: the larger base time x the factor of the intensity x the factor of the runtime. */
export function estimateTimeoutSeconds(size: Size, intensity: Intensity, runtimeMultiplier = 1): number {
  const measures = (["files", "linesOfCode"] as const).flatMap((measure) => {
    const count = size[measure];
    return count === undefined ? [] : [bases.find((row) => row[measure](count))?.seconds ?? UNKNOWN_SIZE_SECONDS];
  });
  const baseSeconds = measures.length === 0 ? UNKNOWN_SIZE_SECONDS : Math.max(...measures);
  return baseSeconds * intensityMultipliers[intensity] * runtimeMultiplier;
}

/** Returns the largest number of this unit that the scope names; undefined if it names none. */
const readCount = (scope: string, unit: RegExp): number | undefined => {
  // Every repetition is bounded, because a scope is untrusted text of any length.
  const number = String.raw`(?<![\d.,_])(\d[\d,_ ]{0,15}(?:\.\d{1,6})?)\s?(k)?\s?\+?\s?`;
  const counts = [...scope.matchAll(new RegExp(`${number}(?:${unit.source})`, "gi"))].map(
    ([, digits = "", thousands]) => Number(digits.replaceAll(/[,_ ]/g, "")) * (thousands === undefined ? 1 : 1_000),
  );
  return counts.length === 0 ? undefined : Math.max(...counts);
};

/** Reads the size from a scope: "12 files", "3k LOC" or the listed paths. */
export function measureScope(scope: string): Size {
  const paths = new Set(scope.match(/(?<![\w.@/-])(?:[\w.@-]{0,255}\/){0,40}[\w@-]{1,255}\.[a-z]{1,5}\b/gi) ?? []);
  const files = readCount(scope, /files?\b/) ?? (paths.size === 0 ? undefined : paths.size);
  const linesOfCode = readCount(scope, /LOC\b|lines?\b/);
  return { ...(files === undefined ? {} : { files }), ...(linesOfCode === undefined ? {} : { linesOfCode }) };
}
