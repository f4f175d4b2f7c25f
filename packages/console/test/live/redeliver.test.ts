import { expect, test } from "vitest";
import type { Api } from "../../src/api.ts";
import { countDead, countOpen } from "../../src/live/redeliver.ts";

test("a number that Bridge has capped is a lower bound", () => {
  expect(countDead("delivery", 9_999, 10_000)).toBe("9999 deliveries");
  expect(countDead("delivery", 10_000, 10_000)).toBe("at least 10000 deliveries");
  expect(countDead("callback", 1)).toBe("1 callback");
});

test("callbacks that could not be counted are reported, so that they are not taken for delivered ones", async () => {
  const callback = { taskId: "a", url: "http://receiver.test/results" };
  const answer = (nextCursor: string | null) => ({ list: async () => ({ data: [callback], meta: { nextCursor } }) }) as unknown as Api;
  const { signal } = new AbortController();
  const chosen = { kind: "callback", receiver: "http://receiver.test" } as const;
  expect(await countOpen(answer(null), chosen, signal)).toEqual({ pending: 1, dead: 1, isCapped: false });
  expect(await countOpen(answer("more"), chosen, signal)).toMatchObject({ isCapped: true });
  expect(await countOpen(answer(null), { ...chosen, id: "b" }, signal)).toMatchObject({ pending: 0 });
});
