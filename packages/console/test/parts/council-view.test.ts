import { expect, test } from "vitest";
import { readCouncil } from "../../src/council.ts";
import { councilView } from "../../src/parts/council-view.ts";

test.each(["constructor", "toString", "__proto__"])("a report with the verdict and the status %s is shown", (word) => {
  const task = { result: { outputs: { verdict: word, status: word, roles: [] } } } as unknown as Parameters<typeof readCouncil>[0];
  const council = readCouncil(task, []);
  if (council === null) throw new Error("The task is not a council.");
  expect(councilView(council, {} as Parameters<typeof councilView>[1], 0).strings.join()).toContain("Council");
});
