import type { LanguageModelMiddleware, ModelMessage } from "ai";

/**
 * Keeps the ids of tool calls apart in a conversation, and so in its task: some endpoints count their calls anew in each answer, and a call whose
 * id has been seen would be taken for the earlier one.
 */
export function makeCallIdsUnique(messages: readonly ModelMessage[]): LanguageModelMiddleware {
  const seen = new Set(messages.flatMap(callIdsOf));

  const fresh = (id: string): string => {
    let own = id;
    for (let number = 2; seen.has(own); number += 1) own = `${id}_${number}`;
    seen.add(own);
    return own;
  };

  return {
    async wrapStream({ doStream }) {
      const { stream, ...rest } = await doStream();
      /** What the ids of calls that are being told have become. */
      const told = new Map<string, string>();
      const idOf = (id: string): string => {
        const own = told.get(id) ?? fresh(id);
        told.set(id, own);
        return own;
      };
      const separate = new TransformStream<StreamPart, StreamPart>({
        transform(part, controller) {
          if (part.type === "tool-input-start" || part.type === "tool-input-delta" || part.type === "tool-input-end")
            controller.enqueue({ ...part, id: idOf(part.id) });
          else if (part.type === "tool-call") {
            controller.enqueue({ ...part, toolCallId: idOf(part.toolCallId) });
            told.delete(part.toolCallId);
          } else controller.enqueue(part);
        },
      });
      return { ...rest, stream: stream.pipeThrough(separate) };
    },
  };
}

type Streamed = Awaited<ReturnType<Parameters<NonNullable<LanguageModelMiddleware["wrapStream"]>>[0]["doStream"]>>;
type StreamPart = Streamed["stream"] extends ReadableStream<infer Part> ? Part : never;

function callIdsOf({ role, content }: ModelMessage): string[] {
  if (role !== "assistant" || typeof content === "string") return [];
  return content.flatMap((part) => (part.type === "tool-call" ? [part.toolCallId] : []));
}
