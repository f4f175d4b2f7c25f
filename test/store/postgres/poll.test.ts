import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { startPoll } from "../../../src/store/postgres/poll.ts";

test("any number of hints during a check cause one more check after it", async () => {
  const checks: (() => void)[] = [];
  const poll = startPoll({
    check: () => new Promise<void>((resolve) => checks.push(resolve)),
    hintsArrive: () => true,
  });
  onTestFinished(poll.close);
  for (let hint = 0; hint < 100; hint += 1) poll.now();
  expect(checks).toHaveLength(1);
  checks[0]?.();
  await nextTurn();
  expect(checks).toHaveLength(2);
  checks[1]?.();
  await nextTurn();
  expect(checks).toHaveLength(2);
  poll.now();
  expect(checks).toHaveLength(3);
});
