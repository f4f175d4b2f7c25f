import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { taskErrorCodes } from "../../src/contract/index.ts";
import { isFinal, legalMoves, type TaskState, taskStates } from "../../src/task.ts";

const page = readFileSync(path.resolve(import.meta.dirname, "../../docs/states.md"), "utf8");
const [, taskSection = ""] = page.split(/^## /m);

test("the page about states lists exactly the permitted transitions of a task", () => {
  const listed = [...taskSection.matchAll(/^\| `(\w+)` \| `(\w+)` \| \S.* \|$/gm)].map(([, from, to]) => `${from} -> ${to}`);
  const legal = taskStates.flatMap((from) => legalMoves[from].map((to) => `${from} -> ${to}`));
  expect(listed.toSorted()).toEqual(legal.toSorted());
});

test("the page about states names exactly the final states", () => {
  const sentence = /^(.*?) are final:/m.exec(taskSection)?.[1] ?? "";
  const named = [...sentence.matchAll(/`(\w+)`/g)].map(([, state]) => state as TaskState);
  expect(named.toSorted()).toEqual(taskStates.filter(isFinal).toSorted());
});

test("the page about states explains every error code of a task, in the order of the list", () => {
  const section = /<!-- task-error-codes -->([\s\S]*?)<!-- \/task-error-codes -->/.exec(page)?.[1] ?? "";
  expect([...section.matchAll(/^\| `(\w+)` \| \S.* \|$/gm)].map(([, code]) => code)).toEqual(taskErrorCodes);
});
