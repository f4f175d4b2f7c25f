import type { AdapterLogger } from "#contract";
import type { Principal } from "../../access/principal.ts";
import type { Metrics } from "../../metrics.ts";

/** An open stream. */
interface Stream {
  principal: Principal;
  /** Aborted when the stream needs no more events. */
  ended: AbortController;
  response: { destroy(): unknown };
}

/** Disconnects a client that does not read its events in time, counts it, and logs it. */
export function disconnectSlowClient(
  { principal, ended, response }: Stream,
  { metrics, logger }: { metrics: Pick<Metrics, "sseSlowDisconnects">; logger: Pick<AdapterLogger, "warn"> },
): void {
  metrics.sseSlowDisconnects.inc();
  logger.warn({ tenant: principal.tenant, principal: principal.name }, "event stream client disconnected because it did not keep up");
  ended.abort();
  response.destroy();
}
