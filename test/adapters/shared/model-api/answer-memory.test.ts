import { expect, test } from "vitest";
import { createAnswerMemory } from "../../../../adapters/shared/model-api/answer-memory.ts";

const MIB = 1024 ** 2;
const memory = () => createAnswerMemory({ taskBytes: 4 * MIB, totalBytes: 6 * MIB });

test("the answers of a task have a limit together, until one of them is dropped", () => {
  const task = memory().openTask();
  const [one, other] = [task.open(), task.open()];
  one.take(3 * MIB);
  other.take(MIB);
  expect(() => other.take(1)).toThrow("in this task have more than 4 MiB");
  one.drop();
  other.take(3 * MIB);
});

test("the answers of all tasks have a limit until their tasks end, except for the first bytes of each task", () => {
  const answers = memory();
  const [one, other, third] = [answers.openTask(), answers.openTask(), answers.openTask()];
  one.open().take(4 * MIB);
  other.open().take(4 * MIB);
  const answer = third.open();
  answer.take(MIB);
  expect(() => answer.take(1)).toThrow("in all tasks of Bridge occupy too much memory");
  one.release();
  answer.take(3 * MIB);
  // Repeated and late calls change nothing.
  one.release();
  one.open().take(100 * MIB);
  other.release();
  const fourth = answers.openTask().open();
  fourth.take(4 * MIB);
  expect(() =>
    answers
      .openTask()
      .open()
      .take(2 * MIB),
  ).toThrow("occupy too much memory");
});
