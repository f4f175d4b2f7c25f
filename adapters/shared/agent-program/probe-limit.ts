import { availableParallelism, loadavg } from "node:os";

/** Limit on an idle machine. Large programs take seconds at their first start. */
const USUAL_LIMIT_MS = 20_000;
/** The most that a busy machine adds: this many times the usual limit. */
const MAX_FACTOR = 4;

/** How long a program may take to answer a probe, in ms: the operator's setting, or a time that grows with the load of the machine. */
export function probeLimitMs(
  { probeSeconds }: { probeSeconds?: number | undefined },
  { load, cores } = { load: loadavg()[0] ?? 0, cores: availableParallelism() },
): number {
  if (probeSeconds !== undefined) return probeSeconds * 1000;
  return Math.round(USUAL_LIMIT_MS * Math.min(Math.max(1, load / cores), MAX_FACTOR));
}
