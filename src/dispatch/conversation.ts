import type { AdapterEvent, ConversationMessage } from "#contract";

/** A conversation longer than this, in characters, is left out of the result: the events still tell it. */
const CONVERSATION_LIMIT_CHARACTERS = 4 * 1024 * 1024;

const UNREADABLE = "[not serializable]";

/** Retells a task as a model conversation, for runtimes that do not give theirs. */
export interface Conversation {
  add(event: AdapterEvent): void;
  /** Undefined when it grew over its limit. */
  messages(): ConversationMessage[] | undefined;
}

/** Starts the conversation with what the runtime was asked. */
export function createConversation(question: string): Conversation {
  const messages: ConversationMessage[] = [{ role: "user", content: question }];
  let size = question.length;

  /** Text and the tool calls that follow it are one message of the assistant. */
  function assistant(): ConversationMessage {
    const last = messages.at(-1);
    if (last?.role === "assistant") return last;
    const message: ConversationMessage = { role: "assistant", content: "" };
    messages.push(message);
    return message;
  }

  return {
    add(event) {
      if (size > CONVERSATION_LIMIT_CHARACTERS) return;
      if (event.type === "assistant.text") {
        size += event.data.content.length;
        const last = messages.at(-1);
        // Text after a tool call of the same message begins the next one.
        if (last?.role === "assistant" && last.toolCalls !== undefined) messages.push({ role: "assistant", content: event.data.content });
        else assistant().content += event.data.content;
      } else if (event.type === "tool.invoked") {
        const { toolCallId, toolName, input } = event.data;
        const json = toJson(input);
        size += json.length;
        const message = assistant();
        message.toolCalls = [...(message.toolCalls ?? []), { toolCallId, toolName, input: json === UNREADABLE ? json : input }];
      } else if (event.type === "tool.completed") {
        const { output, toolCallId } = event.data;
        const content = typeof output === "string" ? output : toJson(output);
        size += content.length;
        messages.push({ role: "tool", content, toolCallId });
      }
    },
    messages: () => (size > CONVERSATION_LIMIT_CHARACTERS ? undefined : messages),
  };
}

/** Live objects of an adapter need not be JSON. */
function toJson(value: unknown): string {
  try {
    return JSON.stringify(value) ?? "";
  } catch {
    return UNREADABLE;
  }
}
