import { expect, test } from "vitest";
import type { AdapterEvent } from "#contract";
import { createConversation } from "../../src/contract/conversation.ts";

const text = (content: string): AdapterEvent => ({ type: "assistant.text", taskId: "t", data: { content } });
const discarded: AdapterEvent = { type: "assistant.text_discarded", taskId: "t", data: {} };
const invoked = (toolCallId: string): AdapterEvent => ({
  type: "tool.invoked",
  taskId: "t",
  data: { toolCallId, toolName: "look", input: {} },
});
const completed = (toolCallId: string): AdapterEvent => ({
  type: "tool.completed",
  taskId: "t",
  data: { toolCallId, toolName: "look", output: `seen ${toolCallId}`, isError: false },
});

function messagesOf(...events: AdapterEvent[]) {
  const conversation = createConversation("Do it.");
  for (const event of events) conversation.add(event);
  return conversation.messages();
}

const user = { role: "user", content: "Do it." };
const call = (toolCallId: string) => ({ toolCallId, toolName: "look", input: {} });

test("text that was discarded is in no message", () => {
  expect(messagesOf(text("Half a"), discarded, text("The whole answer."))).toEqual([
    user,
    { role: "assistant", content: "The whole answer." },
  ]);
  expect(messagesOf(text("Half a"), discarded)).toBeUndefined();
});

test("text before a tool stays when the text after it is discarded", () => {
  expect(messagesOf(text("I look."), invoked("1"), completed("1"), text("Half a"), discarded, discarded, text("Seen."))).toEqual([
    user,
    { role: "assistant", content: "I look.", toolCalls: [call("1")] },
    { role: "tool", content: "seen 1", toolCallId: "1" },
    { role: "assistant", content: "Seen." },
  ]);
  expect(messagesOf(text("I look."), invoked("1"), discarded)).toEqual([
    user,
    { role: "assistant", content: "I look.", toolCalls: [call("1")] },
  ]);
});

test("the result of a call stands behind the call, also when it comes after the answer", () => {
  expect(messagesOf(invoked("1"), invoked("2"), completed("1"), text("The end."), completed("2"), completed("3"))).toEqual([
    user,
    { role: "assistant", content: "", toolCalls: [call("1"), call("2")] },
    { role: "tool", content: "seen 1", toolCallId: "1" },
    { role: "tool", content: "seen 2", toolCallId: "2" },
    { role: "assistant", content: "The end." },
    { role: "tool", content: "seen 3", toolCallId: "3" },
  ]);
});
