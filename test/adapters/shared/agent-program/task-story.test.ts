import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type AdapterEvent, createConversation } from "#contract";
import { createTaskStory, type TaskStory } from "../../../../adapters/shared/agent-program/task-story.ts";
import { textAfterTools } from "../../../conformance/adapter-bench.ts";

function begin(streaming = true): { story: TaskStory; events: AdapterEvent[] } {
  const events: AdapterEvent[] = [];
  return { story: createTaskStory("t", (event) => events.push(event), { streaming }), events };
}

/** Pieces as a careless runtime cuts them: emoji torn in the middle of their two code units. */
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
  fc.record({ kind: fc.constant("say" as const), text: piece }),
  fc.record({ kind: fc.constant("invoke" as const), id: toolId, name: fc.constantFrom("read", "write") }),
  fc.record({ kind: fc.constant("complete" as const), id: toolId, isError: fc.boolean() }),
  fc.record({ kind: fc.constant("progress" as const) }),
  fc.record({ kind: fc.constant("keep" as const) }),
  fc.record({ kind: fc.constant("discard" as const) }),
);
type Act = typeof act extends fc.Arbitrary<infer A> ? A : never;

function perform(story: TaskStory, acts: readonly Act[]): void {
  for (const each of acts) {
    if (each.kind === "say") story.say(each.text);
    else if (each.kind === "invoke") story.invokeTool(each.id, each.name, { at: each.id });
    else if (each.kind === "complete") story.completeTool(each.id, "out", each.isError, "late");
    else if (each.kind === "keep") story.keep();
    else if (each.kind === "discard") story.discard("broken");
    else story.progress({ step: 1 });
  }
}

describe("whatever a runtime does", () => {
  const holds = (check: (acts: Act[]) => void) => fc.assert(fc.property(fc.array(act, { maxLength: 30 }), check), { numRuns: 500 });

  test("every tool is invoked once, then completed once, under one name", () => {
    holds((acts) => {
      const { story, events } = begin();
      perform(story, acts);
      story.close();
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

  test("no text is lost, doubled or torn", () => {
    holds((all) => {
      const acts = all.filter(({ kind }) => kind !== "discard");
      const { story, events } = begin();
      perform(story, acts);
      story.close();
      const told = events.flatMap((event) => (event.type === "assistant.text" ? [event.data.content] : []));
      for (const content of told) expect(content).toSatisfy((text: string) => text !== "" && text.isWellFormed());
      const said = acts.flatMap((each) => (each.kind === "say" ? [each.text] : []));
      // Halves that a tool stands between never meet; all else does.
      if (acts.every(({ kind }) => kind === "say")) expect(told.join("")).toBe(said.join("").toWellFormed());
      expect(told.join("").replaceAll(/[^aü]/gu, "")).toBe(said.join("").replaceAll(/[^aü]/gu, ""));
    });
  });

  test("the answer is what was said after the last tool", () => {
    holds((acts) => {
      const { story, events } = begin();
      perform(story, acts);
      story.say("."); // also a half that waits is said by then
      expect(story.answer).toBe(textAfterTools(events));
      const answer = story.answer;
      story.close();
      expect(story.answer).toBe(answer);
    });
  });

  test("without streaming the same is told but for the text, and the answer is the same", () => {
    holds((acts) => {
      const [loud, quiet] = [begin(true), begin(false)];
      for (const { story } of [loud, quiet]) {
        perform(story, acts);
        story.close();
      }
      expect(quiet.events).toEqual(loud.events.filter(({ type }) => !type.startsWith("assistant.")));
      expect(quiet.story.answer).toBe(loud.story.answer);
    });
  });

  test("the answer that the runtime reports is the answer, and the deltas add up to it", () => {
    fc.assert(
      fc.property(fc.array(act, { maxLength: 30 }), fc.constantFrom("", "a", "ü👩‍🚀a"), (acts, reported) => {
        const { story, events } = begin();
        perform(story, acts);
        const before = story.answer;
        story.settle(reported);
        expect(story.answer).toBe(reported);
        // Nothing is told again that was the answer already.
        if (before !== reported) expect(textAfterTools(events)).toBe(reported);
      }),
      { numRuns: 500 },
    );
  });

  test("nothing is told after the end", () => {
    holds((acts) => {
      const { story, events } = begin();
      story.say("all");
      story.close();
      const told = events.length;
      perform(story, acts);
      story.close();
      expect(events).toHaveLength(told);
      expect(story.answer).toBe("all");
    });
  });
});

test("tells each thing as it happened", () => {
  const { story, events } = begin();
  story.say("Let me see.");
  story.invokeTool("1", "read", undefined);
  story.completeTool("1", undefined, false);
  story.completeTool("2", "no such file", true, "write");
  story.progress({ retry: 1 });
  story.say("Done.");
  story.close();
  expect(events).toEqual([
    { type: "assistant.text", taskId: "t", data: { content: "Let me see." } },
    { type: "tool.invoked", taskId: "t", data: { toolCallId: "1", toolName: "read", input: {} } },
    { type: "tool.completed", taskId: "t", data: { toolCallId: "1", toolName: "read", output: null, isError: false } },
    { type: "tool.invoked", taskId: "t", data: { toolCallId: "2", toolName: "write", input: {} } },
    { type: "tool.completed", taskId: "t", data: { toolCallId: "2", toolName: "write", output: "no such file", isError: true } },
    { type: "execution.progress", taskId: "t", data: { retry: 1 } },
    { type: "assistant.text", taskId: "t", data: { content: "Done." } },
  ]);
  expect(story.answer).toBe("Done.");
});

test("a tool that is left without an end becomes an error, and the answer stays", () => {
  const { story, events } = begin();
  story.invokeTool("1", "shell", { command: "sleep 60" });
  story.say("I give up.");
  story.close();
  expect(events.at(-1)).toMatchObject({ type: "tool.completed", data: { toolCallId: "1", toolName: "shell", isError: true } });
  expect(story.answer).toBe("I give up.");
});

test("text over the limit is not taken, and said to be too long once", () => {
  const events: AdapterEvent[] = [];
  let calls = 0;
  const story = createTaskStory("t", (event) => events.push(event), { streaming: true, maxBytes: 5, onTooLong: () => void calls++ });
  for (const text of ["123", "45", "6", "7"]) story.say(text);
  story.close();
  expect(story.answer).toBe("12345");
  expect(events).toHaveLength(2);
  expect(calls).toBe(1);
});

test("text of an unfinished message is discarded, that of whole messages is told again", () => {
  const { story, events } = begin();
  story.say("First. ");
  story.keep();
  story.say("Sec");
  story.discard("The stream broke.");
  story.discard("The stream broke.");
  story.say("Second.");
  expect(story.answer).toBe("First. Second.");
  expect(events).toEqual([
    { type: "assistant.text", taskId: "t", data: { content: "First. " } },
    { type: "assistant.text", taskId: "t", data: { content: "Sec" } },
    { type: "assistant.text_discarded", taskId: "t", data: { reason: "The stream broke." } },
    { type: "assistant.text", taskId: "t", data: { content: "First. " } },
    { type: "assistant.text", taskId: "t", data: { content: "Second." } },
  ]);
});

test("text before the late end of a tool is the answer when nothing follows", () => {
  const { story } = begin();
  story.say("I call. ");
  story.invokeTool("1", "shell", {});
  story.say("The end.");
  story.completeTool("1", "It never ran.", true);
  expect(story.answer).toBe("The end.");
  story.confirm("The end.");
  story.close();
  expect(story.answer).toBe("The end.");
});

test("a call that is heard of only at its end did not run: the text before it is the answer when nothing follows", () => {
  const { story } = begin();
  story.say("The end.");
  story.completeTool("1", "aborted", true, "bash");
  story.close();
  expect(story.answer).toBe("The end.");
});

test("text before a tool is not the answer of a task that says nothing after it", () => {
  const { story } = begin();
  story.say("I call. ");
  story.invokeTool("1", "shell", {});
  story.completeTool("1", "done", false);
  story.close();
  expect(story.answer).toBe("");
});

test.each([
  ["First. Second.", "Second.", "First. Second."],
  ["Second. \n", "Second.", "Second. \n"],
  ["Sec", "Second.", "Second."],
  ["", "Second.", "Second."],
  ["Half aSecond", "Other.", "Other."],
])("an answer that was streamed as %j and is confirmed by %j is %j", (streamed, confirmed, answer) => {
  const { story, events } = begin();
  story.say(streamed);
  story.confirm(confirmed);
  expect(story.answer).toBe(answer);
  expect(textAfterTools(events)).toBe(answer);
});

test("an answer that replaces text before a late end of a tool stands in the conversation once", () => {
  const conversation = createConversation("Do it.");
  const story = createTaskStory("t", conversation.add, { streaming: true });
  story.invokeTool("1", "look", {});
  story.say("Half");
  story.completeTool("1", "seen", false);
  story.settle("Half and whole.");
  story.close();
  expect(story.answer).toBe("Half and whole.");
  expect(conversation.messages()?.at(-1)).toEqual({ role: "assistant", content: "Half and whole." });
});
