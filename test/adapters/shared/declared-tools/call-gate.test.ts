import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { AdapterEvent } from "#contract";
import { createTaskTimeline } from "../../../../adapters/shared/agent-program/task-timeline.ts";
import { createCallGate } from "../../../../adapters/shared/declared-tools/call-gate.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function openGate() {
  const events: AdapterEvent[] = [];
  const timeline = createTaskTimeline("t1", (event) => events.push(event), { streaming: true });
  const gate = createCallGate(timeline, (name) => name.startsWith("mcp__bridge__"));
  const answers: { text: string; isError: boolean }[] = [];
  const call = (name: string, input: unknown = {}): void => void gate.call(name, input).then((answer) => answers.push(answer));
  const emitted = () => events.map(({ type, data }) => `${type} ${"toolName" in data ? data.toolName : ""}`.trim());
  return { gate, timeline, events, answers, call, emitted };
}
const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

test("the turn continues while no declared tool is called", async () => {
  const { gate } = openGate();
  gate.timeline.startTool("1", "shell", {});
  gate.timeline.finishTool("1", "done", false);
  await pass(60_000);
  expect(gate.turnOver.aborted).toBe(false);
});

test("a call gets no answer, and the turn is over once the program is silent", async () => {
  const { gate, answers, call, emitted } = openGate();
  call("ask_user", { question: "Which?" });
  expect(gate.calls).toEqual([{ toolCallId: expect.stringMatching(/^call_/), toolName: "ask_user", input: { question: "Which?" } }]);
  for (let turn = 0; turn < 10; turn += 1) {
    await pass(200);
    expect(gate.turnOver.aborted).toBe(false);
    gate.noteOutput();
  }
  await pass(700);
  expect(gate.turnOver.aborted).toBe(true);
  expect(answers).toEqual([]);
  expect(emitted()).toEqual(["tool.invoked ask_user"]);
});

test("all calls of one answer are collected, in their order and with unique ids", async () => {
  const { gate, call } = openGate();
  call("ask_user");
  await pass(200);
  call("send_mail");
  await pass(200);
  call("ask_user");
  await pass(700);
  expect(gate.turnOver.aborted).toBe(true);
  expect(gate.calls.map(({ toolName }) => toolName)).toEqual(["ask_user", "send_mail", "ask_user"]);
  expect(new Set(gate.calls.map(({ toolCallId }) => toolCallId)).size).toBe(3);
});

describe("another tool of the turn", () => {
  test("another tool of the turn is not interrupted, however long it runs", async () => {
    const { gate, call, emitted } = openGate();
    gate.timeline.startTool("1", "shell", {});
    call("ask_user");
    await pass(600_000);
    expect(gate.turnOver.aborted).toBe(false);
    gate.timeline.finishTool("1", "done", false);
    await pass(700);
    expect(gate.turnOver.aborted).toBe(true);
    expect(emitted()).toEqual(["tool.invoked shell", "tool.invoked ask_user", "tool.completed shell"]);
  });

  test("another tool of the turn that waits for the end of the call runs first: the call is answered that its result follows", async () => {
    const { gate, answers, call } = openGate();
    gate.timeline.startTool("1", "shell", {});
    call("ask_user");
    await pass(1_000);
    expect(answers).toEqual([]);
    await pass(1_000);
    expect(answers).toEqual([{ text: expect.stringContaining("follows in the next message"), isError: false }]);
  });
});

test("a program that calls one tool after the other gets an answer for each announced call except the last one", async () => {
  const { gate, answers, call } = openGate();
  gate.timeline.startTool("1", "mcp__bridge__ask_user", {});
  gate.timeline.startTool("2", "mcp__bridge__send_mail", {});
  call("ask_user");
  await pass(2_000);
  expect(answers).toHaveLength(1);
  gate.timeline.finishTool("1", "later", false);
  call("send_mail");
  await pass(700);
  expect(gate.turnOver.aborted).toBe(true);
  expect(answers).toHaveLength(1);
  expect(gate.calls).toHaveLength(2);
});

test("the program's events of a declared tool are not emitted twice, and its text about the interruption is dropped", async () => {
  const { gate, timeline, call, emitted } = openGate();
  gate.timeline.appendText("I must ask.");
  gate.timeline.startTool("toolu_1", "mcp__bridge__ask_user", {});
  call("ask_user");
  await pass(700);
  gate.timeline.finishTool("toolu_1", "interrupted", true);
  gate.timeline.appendText("[Request interrupted by user]");
  expect(emitted()).toEqual(["assistant.text", "tool.invoked ask_user"]);
  expect(timeline.answer).toBe("");
});

test("calls that a program repeats when it is stopped count once", async () => {
  const { gate, answers, call, emitted } = openGate();
  call("ask_user");
  await pass(700);
  call("ask_user");
  await pass(0);
  expect(gate.calls).toHaveLength(1);
  expect(emitted()).toEqual(["tool.invoked ask_user"]);
  expect(answers).toEqual([]);
});

test("calls over the maximum number are rejected, and the others stay", async () => {
  const { gate, answers, call } = openGate();
  for (let number = 0; number < 101; number += 1) call("ask_user");
  await pass(0);
  expect(gate.calls).toHaveLength(100);
  expect(answers).toEqual([{ text: expect.stringContaining("limited to 100"), isError: true }]);
});

test("input over the limit is rejected", async () => {
  const { gate, answers, call } = openGate();
  for (const _ of [1, 2, 3]) call("ask_user", { text: "x".repeat(3 * 1024 ** 2) });
  await pass(0);
  expect(gate.calls).toHaveLength(2);
  expect(answers).toEqual([{ text: expect.stringContaining("8 MiB"), isError: true }]);
});

test("closing the gate answers the waiting calls and no longer ends the turn", async () => {
  const { gate, answers, call } = openGate();
  call("ask_user");
  gate.close();
  await pass(60_000);
  expect(answers).toHaveLength(1);
  expect(gate.turnOver.aborted).toBe(false);
  expect(vi.getTimerCount()).toBe(0);
});
