import { availableParallelism, loadavg } from "node:os";

/** The limit on an idle host. The first start of a large program takes seconds. */
const IDLE_LIMIT_MS = 20_000;
/** Maximum factor by which load extends the limit. */
const MAX_FACTOR = 4;

/**
 * Returns how long a program may take to answer a probe, in ms: the operator's setting, or a limit that grows with the load of the host.
 */
export function probeLimitMs(
  { probeSeconds }: { probeSeconds?: number | undefined },
  { load, cores } = { load: loadavg()[0] ?? 0, cores: availableParallelism() },
): number {
  if (probeSeconds !== undefined) return probeSeconds * 1000;
  return Math.round(IDLE_LIMIT_MS * Math.min(Math.max(1, load / cores), MAX_FACTOR));
}
