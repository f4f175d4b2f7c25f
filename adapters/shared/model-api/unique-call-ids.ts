import type { LanguageModelMiddleware, ModelMessage } from "ai";

/**
 * Makes the ids of tool calls unique within a conversation. Some endpoints number their calls per response, and a
 * repeated id would refer to the earlier call.
 */
export function makeCallIdsUnique(messages: readonly ModelMessage[]): LanguageModelMiddleware {
  const seen = new Set(messages.flatMap(callIdsOf));

  const makeUnique = (id: string): string => {
    let unique = id;
    for (let number = 2; seen.has(unique); number += 1) unique = `${id}_${number}`;
    seen.add(unique);
    return unique;
  };

  return {
    async wrapStream({ doStream }) {
      const { stream, ...rest } = await doStream();
      /** The unique ids of the calls that are being streamed. */
      const streaming = new Map<string, string>();
      const idOf = (id: string): string => {
        const unique = streaming.get(id) ?? makeUnique(id);
        streaming.set(id, unique);
        return unique;
      };
      const replaceIds = new TransformStream<StreamPart, StreamPart>({
        transform(part, controller) {
          if (part.type === "tool-input-start" || part.type === "tool-input-delta" || part.type === "tool-input-end")
            controller.enqueue({ ...part, id: idOf(part.id) });
          else if (part.type === "tool-call") {
            controller.enqueue({ ...part, toolCallId: idOf(part.toolCallId) });
            streaming.delete(part.toolCallId);
          } else controller.enqueue(part);
        },
      });
      return { ...rest, stream: stream.pipeThrough(replaceIds) };
    },
  };
}

type Streamed = Awaited<ReturnType<Parameters<NonNullable<LanguageModelMiddleware["wrapStream"]>>[0]["doStream"]>>;
type StreamPart = Streamed["stream"] extends ReadableStream<infer Part> ? Part : never;

function callIdsOf({ role, content }: ModelMessage): string[] {
  if (role !== "assistant" || typeof content === "string") return [];
  return content.flatMap((part) => (part.type === "tool-call" ? [part.toolCallId] : []));
}
