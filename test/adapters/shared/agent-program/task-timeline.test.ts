import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type AdapterEvent, createConversation } from "#contract";
import { createTaskTimeline, type TaskTimeline } from "../../../../adapters/shared/agent-program/task-timeline.ts";
import { textAfterTools } from "../../../conformance/adapter-bench.ts";

function begin(streaming = true): { timeline: TaskTimeline; events: AdapterEvent[] } {
  const events: AdapterEvent[] = [];
  return { timeline: createTaskTimeline("t", (event) => events.push(event), { streaming }), events };
}

/** Text pieces of a runtime that splits emoji between their two code units. */
const piece = fc
  .array(
    fc.oneof(
      { weight: 4, arbitrary: fc.constantFrom("a", "ü", "👩‍🚀", "") },
      { weight: 1, arbitrary: fc.constantFrom("\ud83d", "\ude80") },
    ),
    {
      maxLength: 4,
    },
  )
  .map((parts) => parts.join(""));
const toolId = fc.constantFrom("1", "2", "3", "4");
const act = fc.oneof(
  fc.record({ kind: fc.constant("append" as const), text: piece }),
  fc.record({ kind: fc.constant("start" as const), id: toolId, name: fc.constantFrom("read", "write") }),
  fc.record({ kind: fc.constant("finish" as const), id: toolId, isError: fc.boolean() }),
  fc.record({ kind: fc.constant("progress" as const) }),
  fc.record({ kind: fc.constant("keep" as const) }),
  fc.record({ kind: fc.constant("discard" as const) }),
);
type Act = typeof act extends fc.Arbitrary<infer A> ? A : never;

function perform(timeline: TaskTimeline, acts: readonly Act[]): void {
  for (const each of acts) {
    if (each.kind === "append") timeline.appendText(each.text);
    else if (each.kind === "start") timeline.startTool(each.id, each.name, { at: each.id });
    else if (each.kind === "finish") timeline.finishTool(each.id, "out", each.isError, "late");
    else if (each.kind === "keep") timeline.keepText();
    else if (each.kind === "discard") timeline.discardText("broken");
    else timeline.reportProgress({ step: 1 });
  }
}

describe("for any sequence of reports", () => {
  const holds = (check: (acts: Act[]) => void) => fc.assert(fc.property(fc.array(act, { maxLength: 30 }), check), { numRuns: 500 });

  test("every tool call starts once, then ends once, under one name", () => {
    holds((acts) => {
      const { timeline, events } = begin();
      perform(timeline, acts);
      timeline.close();
      const used = new Set(acts.flatMap((each) => ("id" in each ? [each.id] : [])));
      const tools = events.filter((event) => event.type === "tool.invoked" || event.type === "tool.completed");
      expect(tools).toHaveLength(2 * used.size);
      for (const id of used) {
        const [first, second] = tools.filter(({ data }) => data.toolCallId === id);
        expect([first?.type, second?.type]).toEqual(["tool.invoked", "tool.completed"]);
        expect(second?.data.toolName).toBe(first?.data.toolName);
      }
    });
  });

  test("text is never lost, repeated or split within a character", () => {
    holds((all) => {
      const acts = all.filter(({ kind }) => kind !== "discard");
      const { timeline, events } = begin();
      perform(timeline, acts);
      timeline.close();
      const emitted = events.flatMap((event) => (event.type === "assistant.text" ? [event.data.content] : []));
      for (const content of emitted) expect(content).toSatisfy((text: string) => text !== "" && text.isWellFormed());
      const appended = acts.flatMap((each) => (each.kind === "append" ? [each.text] : []));
      // Halves of a character with a tool call between them are never joined; all others are.
      if (acts.every(({ kind }) => kind === "append")) expect(emitted.join("")).toBe(appended.join("").toWellFormed());
      expect(emitted.join("").replaceAll(/[^aü]/gu, "")).toBe(appended.join("").replaceAll(/[^aü]/gu, ""));
    });
  });

  test("the answer is the text after the last tool call", () => {
    holds((acts) => {
      const { timeline, events } = begin();
      perform(timeline, acts);
      timeline.appendText("."); // flushes a pending half of a character
      expect(timeline.answer).toBe(textAfterTools(events));
      const answer = timeline.answer;
      timeline.close();
      expect(timeline.answer).toBe(answer);
    });
  });

  test("without streaming, only the text events are missing, and the answer is the same", () => {
    holds((acts) => {
      const [loud, quiet] = [begin(true), begin(false)];
      for (const { timeline } of [loud, quiet]) {
        perform(timeline, acts);
        timeline.close();
      }
      expect(quiet.events).toEqual(loud.events.filter(({ type }) => !type.startsWith("assistant.")));
      expect(quiet.timeline.answer).toBe(loud.timeline.answer);
    });
  });

  test("the answer that the runtime reports is the answer, and the deltas add up to it", () => {
    fc.assert(
      fc.property(fc.array(act, { maxLength: 30 }), fc.constantFrom("", "a", "ü👩‍🚀a"), (acts, reported) => {
        const { timeline, events } = begin();
        perform(timeline, acts);
        const before = timeline.answer;
        timeline.settleAnswer(reported);
        expect(timeline.answer).toBe(reported);
        // An answer that was already complete is not emitted again.
        if (before !== reported) expect(textAfterTools(events)).toBe(reported);
      }),
      { numRuns: 500 },
    );
  });

  test("no event follows the end", () => {
    holds((acts) => {
      const { timeline, events } = begin();
      timeline.appendText("all");
      timeline.close();
      const count = events.length;
      perform(timeline, acts);
      timeline.close();
      expect(events).toHaveLength(count);
      expect(timeline.answer).toBe("all");
    });
  });
});

test("the timeline emits the events in their order", () => {
  const { timeline, events } = begin();
  timeline.appendText("Let me see.");
  timeline.startTool("1", "read", undefined);
  timeline.finishTool("1", undefined, false);
  timeline.finishTool("2", "no such file", true, "write");
  timeline.reportProgress({ retry: 1 });
  timeline.appendText("Done.");
  timeline.close();
  expect(events).toEqual([
    { type: "assistant.text", taskId: "t", data: { content: "Let me see." } },
    { type: "tool.invoked", taskId: "t", data: { toolCallId: "1", toolName: "read", input: {} } },
    { type: "tool.completed", taskId: "t", data: { toolCallId: "1", toolName: "read", output: null, isError: false } },
    { type: "tool.invoked", taskId: "t", data: { toolCallId: "2", toolName: "write", input: {} } },
    { type: "tool.completed", taskId: "t", data: { toolCallId: "2", toolName: "write", output: "no such file", isError: true } },
    { type: "execution.progress", taskId: "t", data: { retry: 1 } },
    { type: "assistant.text", taskId: "t", data: { content: "Done." } },
  ]);
  expect(timeline.answer).toBe("Done.");
});

test("a tool call without an end becomes an error, and the answer stays", () => {
  const { timeline, events } = begin();
  timeline.startTool("1", "shell", { command: "sleep 60" });
  timeline.appendText("I give up.");
  timeline.close();
  expect(events.at(-1)).toMatchObject({ type: "tool.completed", data: { toolCallId: "1", toolName: "shell", isError: true } });
  expect(timeline.answer).toBe("I give up.");
});

test("text over the limit is dropped, and onTooLong is called once", () => {
  const events: AdapterEvent[] = [];
  let calls = 0;
  const timeline = createTaskTimeline("t", (event) => events.push(event), { streaming: true, maxBytes: 5, onTooLong: () => void calls++ });
  for (const text of ["123", "45", "6", "7"]) timeline.appendText(text);
  timeline.close();
  expect(timeline.answer).toBe("12345");
  expect(events).toHaveLength(2);
  expect(calls).toBe(1);
});

test("text of an unfinished message is discarded, and text of whole messages is emitted again", () => {
  const { timeline, events } = begin();
  timeline.appendText("First. ");
  timeline.keepText();
  timeline.appendText("Sec");
  timeline.discardText("The stream broke.");
  timeline.discardText("The stream broke.");
  timeline.appendText("Second.");
  expect(timeline.answer).toBe("First. Second.");
  expect(events).toEqual([
    { type: "assistant.text", taskId: "t", data: { content: "First. " } },
    { type: "assistant.text", taskId: "t", data: { content: "Sec" } },
    { type: "assistant.text_discarded", taskId: "t", data: { reason: "The stream broke." } },
    { type: "assistant.text", taskId: "t", data: { content: "First. " } },
    { type: "assistant.text", taskId: "t", data: { content: "Second." } },
  ]);
});

test("text before the late end of a tool call is the answer if no text follows", () => {
  const { timeline } = begin();
  timeline.appendText("I call. ");
  timeline.startTool("1", "shell", {});
  timeline.appendText("The end.");
  timeline.finishTool("1", "It never ran.", true);
  expect(timeline.answer).toBe("The end.");
  timeline.confirmLastPart("The end.");
  timeline.close();
  expect(timeline.answer).toBe("The end.");
});

test("a call that is reported only at its end did not run, so the text before it is the answer if no text follows", () => {
  const { timeline } = begin();
  timeline.appendText("The end.");
  timeline.finishTool("1", "aborted", true, "bash");
  timeline.close();
  expect(timeline.answer).toBe("The end.");
});

test("text before a tool call is not the answer if no text follows it", () => {
  const { timeline } = begin();
  timeline.appendText("I call. ");
  timeline.startTool("1", "shell", {});
  timeline.finishTool("1", "done", false);
  timeline.close();
  expect(timeline.answer).toBe("");
});

test.each([
  ["First. Second.", "Second.", "First. Second."],
  ["Second. \n", "Second.", "Second. \n"],
  ["Sec", "Second.", "Second."],
  ["", "Second.", "Second."],
  ["Half aSecond", "Other.", "Other."],
])("an answer that was streamed as %j and is confirmed by %j is %j", (streamed, confirmed, answer) => {
  const { timeline, events } = begin();
  timeline.appendText(streamed);
  timeline.confirmLastPart(confirmed);
  expect(timeline.answer).toBe(answer);
  expect(textAfterTools(events)).toBe(answer);
});

test("an answer that replaces text before a late end of a tool call is in the conversation once", () => {
  const conversation = createConversation("Do it.");
  const timeline = createTaskTimeline("t", conversation.add, { streaming: true });
  timeline.startTool("1", "look", {});
  timeline.appendText("Half");
  timeline.finishTool("1", "seen", false);
  timeline.settleAnswer("Half and whole.");
  timeline.close();
  expect(timeline.answer).toBe("Half and whole.");
  expect(conversation.messages()?.at(-1)).toEqual({ role: "assistant", content: "Half and whole." });
});

test("an image in the output of a tool is reported by its type and size", () => {
  const events: AdapterEvent[] = [];
  const timeline = createTaskTimeline("t", (event) => events.push(event), { streaming: true });
  timeline.startTool("1", "read", { path: "a.png" });
  timeline.finishTool("1", [{ type: "image", data: "AAAA", mimeType: "image/png" }], false);
  expect(events.at(-1)?.data).toMatchObject({ output: [{ type: "image", mimeType: "image/png", bytes: 3 }] });
});
