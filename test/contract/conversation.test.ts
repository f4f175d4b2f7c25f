import { describe, expect, test } from "vitest";
import { type AdapterEvent, createConversation } from "#contract";

const text = (content: string): AdapterEvent => ({ type: "assistant.text", taskId: "t", data: { content } });
const invoked = (toolCallId: string): AdapterEvent => ({
  type: "tool.invoked",
  taskId: "t",
  data: { toolCallId, toolName: "read", input: { a: 1 } },
});
const completed = (toolCallId: string, output: unknown): AdapterEvent => ({
  type: "tool.completed",
  taskId: "t",
  data: { toolCallId, toolName: "read", output, isError: false },
});
const call = (toolCallId: string) => ({ toolCallId, toolName: "read", input: { a: 1 } });

test.each<[string, AdapterEvent[], unknown[]]>([
  ["deltas are one message", [text("he"), text("llo")], [{ role: "assistant", content: "hello" }]],
  [
    "text, two calls, their results, text",
    [text("look"), invoked("1"), invoked("2"), completed("1", "one"), completed("2", { two: 2 }), text("done")],
    [
      { role: "assistant", content: "look", toolCalls: [call("1"), call("2")] },
      { role: "tool", content: "one", toolCallId: "1" },
      { role: "tool", content: '{"two":2}', toolCallId: "2" },
      { role: "assistant", content: "done" },
    ],
  ],
  [
    "text right after a call begins a new message",
    [invoked("1"), text("meanwhile")],
    [
      { role: "assistant", content: "", toolCalls: [call("1")] },
      { role: "assistant", content: "meanwhile" },
    ],
  ],
])("conversation: %s", (_, events, expected) => {
  const conversation = createConversation("question");
  for (const event of events) conversation.add(event);
  expect(conversation.messages()).toEqual([{ role: "user", content: "question" }, ...expected]);
});

test("a conversation without measure is left out", () => {
  const conversation = createConversation("question");
  for (let index = 0; index < 5; index += 1) conversation.add(text("x".repeat(1024 * 1024)));
  expect(conversation.messages()).toBeUndefined();
});

const question = { role: "user", content: "question" };
const assistant = (content: string) => ({ role: "assistant", content });

describe("a conversation ends with the assistant's answer", () => {
  test.each<[string, AdapterEvent[], string, unknown[] | undefined]>([
    ["which is added where no event contained it", [], "Done.", [assistant("Done.")]],
    [
      "which follows the tools",
      [text("look"), invoked("1"), completed("1", "one")],
      "Done.",
      [
        { role: "assistant", content: "look", toolCalls: [call("1")] },
        { role: "tool", content: "one", toolCallId: "1" },
        assistant("Done."),
      ],
    ],
    ["which the deltas already contain", [text("Do"), text("ne.")], "Done.", [assistant("Done.")]],
    [
      "which is a separate message, in addition to other text",
      [text("I answer.")],
      '{"n":1}',
      [assistant("I answer."), assistant('{"n":1}')],
    ],
    [
      "which includes the text before the tools",
      [text("look "), invoked("1"), completed("1", "one"), text("done")],
      "look done",
      [
        { role: "assistant", content: "look ", toolCalls: [call("1")] },
        { role: "tool", content: "one", toolCallId: "1" },
        assistant("done"),
      ],
    ],
    ["unless there is none", [], "", undefined],
  ])("%s", (_, events, answer, expected) => {
    const conversation = createConversation("question");
    for (const event of events) conversation.add(event);
    conversation.addAnswer(answer);
    expect(conversation.messages()).toEqual(expected === undefined ? undefined : [question, ...expected]);
  });

  test("a conversation ends with the assistant's answer and not with one that makes it too long", () => {
    const conversation = createConversation("question");
    conversation.addAnswer("x".repeat(5 * 1024 * 1024));
    expect(conversation.messages()).toBeUndefined();
  });
});

test("texts that are whole messages are separate messages", () => {
  const conversation = createConversation("question", { wholeMessages: true });
  for (const event of [text("look"), invoked("1"), completed("1", "one"), text("nearly"), text("done")]) conversation.add(event);
  expect(conversation.messages()).toEqual([
    question,
    { role: "assistant", content: "look", toolCalls: [call("1")] },
    { role: "tool", content: "one", toolCallId: "1" },
    assistant("nearly"),
    assistant("done"),
  ]);
});
