import { expect, test } from "vitest";
import { createTurns } from "../../src/workspaces/take-turns.ts";

test("acts of one name wait for each other, even for one that fails; others do not", async () => {
  const takeTurns = createTurns();
  const steps: string[] = [];
  const first = Promise.withResolvers<string>();
  const act = (step: string, answer: Promise<string>) => () => {
    steps.push(step);
    return answer;
  };
  const answers = [
    takeTurns("a", act("a1", first.promise)),
    takeTurns("a", act("a2", Promise.resolve("second"))),
    takeTurns("b", act("b1", Promise.resolve("other"))),
  ];
  expect(await answers[2]).toBe("other");
  expect(steps).toEqual(["a1", "b1"]);
  first.reject(new Error("It failed."));
  await expect(answers[0]).rejects.toThrow("It failed.");
  expect(await answers[1]).toBe("second");
  expect(steps).toEqual(["a1", "b1", "a2"]);
});
