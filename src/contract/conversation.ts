import type { AdapterEvent } from "./events.ts";
import type { ConversationMessage } from "./execution.ts";

/** A conversation longer than this, in characters, is left out of the result; the events contain it all the same. */
const CONVERSATION_LIMIT_CHARACTERS = 4 * 1024 * 1024;

const UNREADABLE = "[not serializable]";

/** Records a task as a model conversation, for runtimes that do not report theirs. */
export interface Conversation {
  add(event: AdapterEvent): void;
  /** Adds the answer as the last message, unless it is what the assistant's text ends with. */
  addAnswer(answer: string): void;
  /** Undefined when there is nothing but the question, or more than the limit. */
  messages(): ConversationMessage[] | undefined;
}

/** How the text of a runtime comes. */
export interface ConversationOptions {
  /** Each `assistant.text` is a whole message, not a delta. Default: false. */
  wholeMessages?: boolean;
}

/** Starts the conversation with the message that the runtime got. */
export function createConversation(question: string, { wholeMessages = false }: ConversationOptions = {}): Conversation {
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

  function addText(content: string, isWhole: boolean): void {
    size += content.length;
    const last = messages.at(-1);
    // Text after a tool call of the same message begins the next one.
    if (last?.role === "assistant" && (isWhole || last.toolCalls !== undefined)) messages.push({ role: "assistant", content });
    else assistant().content += content;
  }

  /** Behind its call, and behind the results that are there: some runtimes report the end of a call only after their answer. */
  function placeOfResult(toolCallId: string): number {
    const call = messages.findLastIndex(({ toolCalls }) => toolCalls?.some((one) => one.toolCallId === toolCallId) === true);
    if (call === -1) return messages.length;
    let place = call + 1;
    while (messages[place]?.role === "tool") place += 1;
    return place;
  }

  /** Text before a tool call stays: only the text since the last tool event is withdrawn. */
  function discardText(): void {
    for (let last = messages.at(-1); last?.role === "assistant" && last.toolCalls === undefined; last = messages.at(-1)) {
      size -= last.content.length;
      messages.pop();
    }
  }

  return {
    add(event) {
      if (size > CONVERSATION_LIMIT_CHARACTERS) return;
      if (event.type === "assistant.text") addText(event.data.content, wholeMessages);
      else if (event.type === "assistant.text_discarded") discardText();
      else if (event.type === "tool.invoked") {
        const { toolCallId, toolName, input } = event.data;
        const json = toJson(input);
        size += json.length;
        const message = assistant();
        message.toolCalls = [...(message.toolCalls ?? []), { toolCallId, toolName, input: json === UNREADABLE ? json : input }];
      } else if (event.type === "tool.completed") {
        const { output, toolCallId } = event.data;
        const content = typeof output === "string" ? output : toJson(output);
        size += content.length;
        messages.splice(placeOfResult(toolCallId), 0, { role: "tool", content, toolCallId });
      }
    },
    addAnswer(answer) {
      if (size > CONVERSATION_LIMIT_CHARACTERS || answer === "") return;
      // Some runtimes count the text before their tools as a part of the answer.
      const said = messages.flatMap(({ role, content }) => (role === "assistant" ? [content] : [])).join("");
      if (!said.endsWith(answer)) addText(answer, true);
    },
    messages: () => (messages.length === 1 || size > CONVERSATION_LIMIT_CHARACTERS ? undefined : messages),
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
