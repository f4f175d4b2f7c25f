import { pino } from "pino";
import { expect, test } from "vitest";
import { createAttention, FAILURE_HOURS } from "../../src/attention/attention.ts";
import type { AttentionStore, FaultSelection } from "../../src/store/attention/interface.ts";

const now = 1_000 * 3_600_000;
const since = now - FAILURE_HOURS * 3_600_000;

test("all failures are those of the list, which has none of more than 24 hours ago", async () => {
  const selections: FaultSelection[] = [];
  const store: Pick<AttentionStore, "acknowledgeFaults" | "isFault"> = {
    isFault: async () => false,
    async acknowledgeFaults(selection) {
      selections.push(selection);
      return 1;
    },
  };
  const attention = createAttention({
    ...{ store: store as AttentionStore, registry: { list: () => [] }, adapters: { listForeign: () => [] } },
    ...{ webhooks: { list: async () => [] }, logger: pino({ level: "silent" }), clock: () => now },
  });
  await attention.acknowledge({ tenant: "alpha", kind: "failure" }, "ada");
  await attention.acknowledge({ tenant: "alpha", kind: "failure", id: "old" }, "ada");
  await attention.acknowledge({ tenant: "alpha", kind: "callback" }, "ada");
  expect(selections.map(({ kind, id, since }) => ({ kind, id, since }))).toEqual([
    { kind: "failure", id: undefined, since },
    { kind: "failure", id: "old", since: undefined },
    { kind: "callback", id: undefined, since: undefined },
  ]);
});

test.each([true, false])("an acknowledgment of many reports whether faults are left that were being written (%s)", async (isLeft) => {
  const asked: unknown[] = [];
  const store: Pick<AttentionStore, "acknowledgeFaults" | "isFault"> = {
    acknowledgeFaults: async () => 0,
    async isFault(_selection, options) {
      asked.push(options);
      return isLeft;
    },
  };
  const attention = createAttention({
    ...{ store: store as AttentionStore, registry: { list: () => [] }, adapters: { listForeign: () => [] } },
    ...{ webhooks: { list: async () => [] }, logger: pino({ level: "silent" }), clock: () => now },
  });
  expect(await attention.acknowledge({ tenant: "alpha", kind: "callback" }, "ada")).toEqual({ acknowledged: 0, hasMore: isLeft });
  expect(asked).toEqual([{ isNew: true }]);
});
