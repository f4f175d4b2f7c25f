/** How much there is to look at; either number alone suffices. */
export interface Scope {
  files?: number;
  linesOfCode?: number;
}
export type Intensity = "quick" | "standard" | "thorough";

/** Upper bounds of a size, exclusive, and its base in seconds; the last row takes everything else. */
const sizes = [
  { files: 5, linesOfCode: 500, baseSeconds: 60 },
  { files: 20, linesOfCode: 2_000, baseSeconds: 180 },
  { files: 50, linesOfCode: 10_000, baseSeconds: 300 },
] as const;
const LARGEST_BASE_SECONDS = 600;

/** How much longer a deeper look takes. */
export const intensityMultipliers: Readonly<Record<Intensity, number>> = { quick: 0.5, standard: 1, thorough: 1.5 };

/**
 * Seconds that a task over this scope may take: base of its size x intensity x the runtime's own multiplier.
 * The larger of the two measures of the scope decides. Source: the bridge contract, "Timeout Estimation".
 */
export function estimateTimeoutSeconds(scope: Scope, intensity: Intensity, runtimeMultiplier = 1): number {
  const { files = 0, linesOfCode = 0 } = scope;
  const size = sizes.find((row) => files < row.files && linesOfCode < row.linesOfCode);
  return (size?.baseSeconds ?? LARGEST_BASE_SECONDS) * intensityMultipliers[intensity] * runtimeMultiplier;
}
