import { expect, onTestFinished, test, vi } from "vitest";
import { createLeaseWrites } from "../../../src/store/nodes/postgres-lease.ts";

test.each([
  [120_000, 3_000],
  [4_000, 1_000],
])(
  "with a lease of %i ms, a renewal without an answer fails after %i ms, and the next one uses a new connection",
  async (leaseMs, limitMs) => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    let connections = 0;
    const { renewLease, close } = createLeaseWrites({
      node: { id: "n1", incarnation: "1", home: "" },
      async connect() {
        connections += 1;
        return { isLost: false, query: () => new Promise(() => {}), together: () => Promise.reject(new Error("unused")), close() {} };
      },
    });
    for (const expected of [1, 2]) {
      const renewing = renewLease({ leaseMs, skewMs: 0, settingsDigest: "d", adapters: [] });
      let failure: unknown;
      renewing.catch((error: unknown) => {
        failure = error;
      });
      await vi.advanceTimersByTimeAsync(limitMs - 1);
      expect(failure).toBeUndefined();
      await vi.advanceTimersByTimeAsync(1);
      expect([String(failure), connections]).toEqual([expect.stringContaining("PostgreSQL did not answer in time."), expected]);
    }
    close();
  },
);
