import type { AdapterEvent } from "./events.ts";
import type { ConversationMessage } from "./execution.ts";

/** A conversation longer than this, in characters, is omitted from the result; the events still contain it. */
const CONVERSATION_LIMIT_CHARACTERS = 4 * 1024 * 1024;

const UNREADABLE = "[not serializable]";

/** Records the model conversation of a task, for runtimes that do not report it. */
export type Conversation = ReturnType<typeof createConversation>;

/**
 * Starts the conversation with the message to the runtime. With `wholeMessages`, each `assistant.text` is a whole message; by default, it
 * is a delta.
 */
export function createConversation(prompt: string, { wholeMessages = false }: { wholeMessages?: boolean } = {}) {
  const messages: ConversationMessage[] = [{ role: "user", content: prompt }];
  let size = prompt.length;

  /** Returns the message that text or a tool call belongs to: text and the tool calls after it are one message. */
  function openAssistantMessage(): ConversationMessage {
    const last = messages.at(-1);
    if (last?.role === "assistant") return last;
    const message: ConversationMessage = { role: "assistant", content: "" };
    messages.push(message);
    return message;
  }

  function addText(content: string, isWhole: boolean): void {
    size += content.length;
    const last = messages.at(-1);
    // Text after a tool call starts the next message.
    if (last?.role === "assistant" && (isWhole || last.toolCalls !== undefined)) messages.push({ role: "assistant", content });
    else openAssistantMessage().content += content;
  }

  /** Returns the index after the call and its earlier results, because some runtimes report the end of a call only after their answer. */
  function findResultIndex(toolCallId: string): number {
    const call = messages.findLastIndex(({ toolCalls }) => toolCalls?.some((entry) => entry.toolCallId === toolCallId) === true);
    if (call === -1) return messages.length;
    let index = call + 1;
    while (messages[index]?.role === "tool") index += 1;
    return index;
  }

  /** Withdraws the text since the last tool event. */
  function discardText(): void {
    for (let last = messages.at(-1); last?.role === "assistant" && last.toolCalls === undefined; last = messages.at(-1)) {
      size -= last.content.length;
      messages.pop();
    }
  }

  return {
    add(event: AdapterEvent): void {
      if (size > CONVERSATION_LIMIT_CHARACTERS) return;
      if (event.type === "assistant.text") addText(event.data.content, wholeMessages);
      else if (event.type === "assistant.text_discarded") discardText();
      else if (event.type === "tool.invoked") {
        const { toolCallId, toolName, input } = event.data;
        const json = toJson(input);
        size += json.length;
        const message = openAssistantMessage();
        message.toolCalls = [...(message.toolCalls ?? []), { toolCallId, toolName, input: json === UNREADABLE ? json : input }];
      } else if (event.type === "tool.completed") {
        const { output, toolCallId } = event.data;
        const content = typeof output === "string" ? output : toJson(output);
        size += content.length;
        messages.splice(findResultIndex(toolCallId), 0, { role: "tool", content, toolCallId });
      }
    },
    /** Adds the answer as the last message, unless the assistant's text already ends with it. */
    addAnswer(answer: string): void {
      if (size > CONVERSATION_LIMIT_CHARACTERS || answer === "") return;
      // The answer of some runtimes includes the text before their tool calls.
      const text = messages.flatMap(({ role, content }) => (role === "assistant" ? [content] : [])).join("");
      if (!text.endsWith(answer)) addText(answer, true);
    },
    /** Undefined if the conversation contains only the question, or exceeds the limit. */
    messages: (): ConversationMessage[] | undefined =>
      messages.length === 1 || size > CONVERSATION_LIMIT_CHARACTERS ? undefined : messages,
  };
}

/** Objects of an adapter may not be serializable. */
function toJson(value: unknown): string {
  try {
    return JSON.stringify(value) ?? "";
  } catch {
    return UNREADABLE;
  }
}
