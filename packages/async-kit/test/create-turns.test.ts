import { getEventListeners } from "node:events";
import { createTurns } from "@hak2i/async-kit";
import { expect, test } from "vitest";

const reason = new Error("The caller aborted.");

test("functions with one key run one after another, even after one that fails; other keys do not wait", async () => {
  const turns = createTurns();
  const steps: string[] = [];
  const first = Promise.withResolvers<string>();
  const act = (step: string, answer: Promise<string>) => () => {
    steps.push(step);
    return answer;
  };
  const answers = [
    turns.take("a", act("a1", first.promise)),
    turns.take("a", act("a2", Promise.resolve("second"))),
    turns.take("b", act("b1", Promise.resolve("other"))),
  ];
  expect(await answers[2]).toBe("other");
  expect(steps).toEqual(["a1", "b1"]);
  first.reject(new Error("It failed."));
  await expect(answers[0]).rejects.toThrow("It failed.");
  expect(await answers[1]).toBe("second");
  expect(steps).toEqual(["a1", "b1", "a2"]);
});

test("a key is taken until its last function has settled", async () => {
  const turns = createTurns();
  const work = Promise.withResolvers<void>();
  const [first, second] = [turns.take("a", () => work.promise), turns.take("a", async () => {})];
  expect([turns.isTaken("a"), turns.isTaken("b")]).toEqual([true, false]);
  work.resolve();
  await first;
  expect(turns.isTaken("a")).toBe(true);
  await second;
  expect(turns.isTaken("a")).toBe(false);
});

test.each(["before", "after"])(
  "a function whose signal aborts %s it is queued is not called, and the next one keeps its turn",
  async (when) => {
    const turns = createTurns();
    const controller = new AbortController();
    const steps: string[] = [];
    const work = Promise.withResolvers<void>();
    const act = (step: string) => async () => void steps.push(step);
    if (when === "before") controller.abort(reason);
    const first = turns.take("a", () => work.promise);
    const aborted = turns.take("a", act("aborted"), controller.signal);
    const last = turns.take("a", act("last"));
    controller.abort(reason);
    await expect(aborted).rejects.toBe(reason);
    expect(steps).toEqual([]);
    expect(turns.isTaken("a")).toBe(true);
    work.resolve();
    await Promise.all([first, last]);
    expect(steps).toEqual(["last"]);
    expect(turns.isTaken("a")).toBe(false);
    expect(getEventListeners(controller.signal, "abort")).toEqual([]);
  },
);

test("a signal that aborts after the function has started does not end the turn", async () => {
  const turns = createTurns();
  const controller = new AbortController();
  const [started, work] = [Promise.withResolvers<void>(), Promise.withResolvers<string>()];
  const act = () => {
    started.resolve();
    return work.promise;
  };
  const result = turns.take("a", act, controller.signal);
  await started.promise;
  controller.abort(reason);
  work.resolve("done");
  expect(await result).toBe("done");
  expect(getEventListeners(controller.signal, "abort")).toEqual([]);
});
