import type { Scenario } from "../scenario.ts";
import { startStalledReceiver } from "../stalled-receiver.ts";

const RECEIVERS = 8;
const MAX_POSTS_PER_RECEIVER = 8;
/** How late the callback of the healthy receiver may be on an idle machine. Its receiver rejects the first attempts of some. */
const LATE_MS = 5000;

/** Eight receivers accept connections and do not respond. All nodes together open few connections to each, and other callbacks go on. */
export const deadReceivers: Scenario = {
  name: "dead-receivers",
  nodes: 3,
  leaseSeconds: 120,
  environment: { BRIDGE_CALLBACK_RETRIES: "10" },
  async act({ nodes, tenants, orchestrator, random, query, callbackOrigin, times, count, expectSoon, onViolation }) {
    const receivers = await Promise.all(Array.from({ length: RECEIVERS }, () => startStalledReceiver(callbackOrigin)));
    const origins = receivers.map(({ origin }) => origin);
    const countPending = async (condition: string): Promise<number> =>
      (
        await query<{ count: number }>(
          `SELECT count(*)::int AS count FROM callback c JOIN task t ON t.seq = c.task WHERE c.state = 'pending' AND ${condition}`,
          [origins],
        )
      )[0]?.count ?? 0;
    try {
      for (let number = 0; number < times(200); number += 1) {
        const { origin } = receivers[number % RECEIVERS] as (typeof receivers)[number];
        await orchestrator.dispatchOne(random.pick(nodes).address ?? "", random.pick(tenants), "quick", { callbackOrigin: origin });
      }
      await expectSoon("proof: no callback waits for a dead receiver", async () => (await countPending("c.origin = ANY ($1)")) > RECEIVERS);
      await expectSoon("proof: a dead receiver gets no connection", () => receivers.every(({ mostConnections }) => mostConnections > 0));
      const isLate = `c.origin <> ALL ($1) AND t.finished_at < extract(epoch FROM clock_timestamp()) * 1000 - ${LATE_MS}`;
      await expectSoon("callback: callbacks wait behind those of dead receivers", async () => (await countPending(isLate)) === 0);
      for (const { origin, mostConnections } of receivers)
        if (mostConnections > MAX_POSTS_PER_RECEIVER) onViolation(`callback: ${origin} had ${mostConnections} connections at once`);
      count("faults", RECEIVERS);
      for (const receiver of receivers) receiver.revive();
      const isDelivered = async () =>
        [...orchestrator.tasks.values()].every(isEndedOr(origins)) && (await countPending("c.origin = ANY ($1)")) === 0;
      await expectSoon("callback: callbacks are not delivered after their receivers are back", isDelivered, 60_000);
    } finally {
      for (const receiver of receivers) await receiver.close();
    }
  },
};

/** Whether the task has ended, or has another receiver. */
const isEndedOr =
  (origins: readonly string[]) =>
  ({ ended, body }: { ended: boolean; body: Readonly<Record<string, unknown>> }): boolean =>
    ended || !origins.some((origin) => String(body["callbackUrl"]).startsWith(origin));
