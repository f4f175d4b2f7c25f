import { randomUUID } from "node:crypto";
import type { LanguageModelMiddleware, ToolSet } from "ai";
import { mayBeInexact, parseExactJson, toWellFormedJson } from "#contract";

const { isRawJSON, rawJSON } = JSON as JSON & { isRawJSON(value: unknown): value is { rawJSON: string }; rawJSON(text: string): unknown };

/**
 * Keeps the numbers of tool inputs that a double cannot hold. The SDK parses inputs itself, so such a number reaches it as a marked text,
 * which `refineToolInput` replaces by an object of `JSON.rawJSON`. Unpaired surrogates become U+FFFD, because many parsers reject them.
 */
export function createExactInputs(tools: ToolSet) {
  // A model cannot know it, so no text of a model is mistaken for a number.
  const prefix = `number-${randomUUID()}:`;

  const encode = (input: string): string => {
    if (!mayBeInexact(input) && !surrogateEscape.test(input)) return input;
    try {
      const mark = (_key: string, value: unknown): unknown => (isRawJSON(value) ? prefix + value.rawJSON : value);
      return toWellFormedJson(JSON.stringify(parseExactJson(input), mark));
    } catch {
      // The SDK reports an input that is not JSON.
      return input;
    }
  };
  const decode = (value: unknown): unknown => {
    if (typeof value === "string") return value.startsWith(prefix) ? rawJSON(value.slice(prefix.length)) : value;
    if (Array.isArray(value)) return value.map(decode);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, decode(member)]));
  };

  const middleware: LanguageModelMiddleware = {
    async wrapStream({ doStream }) {
      const { stream, ...rest } = await doStream();
      const encodeInputs = new TransformStream<StreamPart, StreamPart>({
        transform(part, controller) {
          const isKnown = part.type === "tool-call" && Object.hasOwn(tools, part.toolName);
          controller.enqueue(isKnown ? { ...part, input: encode(part.input) } : part);
        },
      });
      return { ...rest, stream: stream.pipeThrough(encodeInputs) };
    },
  };
  return { middleware, refineToolInput: Object.fromEntries(Object.keys(tools).map((name) => [name, decode])) };
}

const surrogateEscape = /\\u[dD][89a-fA-F]/;

type Streamed = Awaited<ReturnType<Parameters<NonNullable<LanguageModelMiddleware["wrapStream"]>>[0]["doStream"]>>;
type StreamPart = Streamed["stream"] extends ReadableStream<infer Part> ? Part : never;
