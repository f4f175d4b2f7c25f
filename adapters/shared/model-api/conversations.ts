import { hash, randomUUID } from "node:crypto";
import { mkdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { type ModelMessage, modelMessageSchema } from "ai";
import { z } from "zod";
import { parseExactJson, stringifyWellFormed } from "#contract";
import { removeOldFiles } from "../agent-program/remove-old-files.ts";
import { ModelFailure } from "./model-failure.ts";
import { omitImages } from "./model-output.ts";
import { omitThoughts } from "./thoughts.ts";

/** Maximum size of a conversation that can be resumed. Every turn sends the whole conversation. */
const MAX_BYTES = 16 * 1024 ** 2;
const SWEEP_INTERVAL_MS = 3600 * 1000;

const storedSchema = z.object({ messages: z.array(modelMessageSchema) });

/** Distinguishes the tokens of conversations from the session ids of runtimes. */
const TOKEN_PREFIX = "conversation-";
export const isConversationToken = (token: string): boolean => token.startsWith(TOKEN_PREFIX);

export type Conversations = ReturnType<typeof createConversations>;

/**
 * Stores the conversations of an adapter in a directory, one file each, outside the agents' homes, so that a task
 * cannot change them. A conversation keeps its token when it grows. A token is valid only for the home of the agent
 * that it was created for.
 */
export function createConversations(directory: string, retentionDays: number) {
  const maxAgeMs = retentionDays * 24 * 3600 * 1000;
  let sweptAt = Number.NEGATIVE_INFINITY;

  const fileOf = (home: string, token: string): string => path.join(directory, `${hash("sha256", `${home}\0${token}`)}.json`);

  return {
    /** Rejects with a `ModelFailure` if the conversation does not exist, has expired or is too long. */
    async read(home: string, token: string): Promise<ModelMessage[]> {
      const file = fileOf(home, token);
      const stats = await stat(file).catch(() => null);
      if (stats === null || Date.now() - stats.mtimeMs > maxAgeMs)
        throw new ModelFailure(
          "adapter_error",
          `The resume token is unknown: it belongs to no conversation of this agent, or has expired after ${retentionDays} days. Omit \`resumeToken\`.`,
        );
      if (stats.size > MAX_BYTES)
        throw new ModelFailure(
          "adapter_error",
          `The conversation is longer than ${MAX_BYTES / 1024 ** 2} MiB. Omit \`resumeToken\` to start a new one.`,
        );
      try {
        return storedSchema.parse(parseExactJson(await readFile(file, "utf8"))).messages;
      } catch {
        throw new ModelFailure("adapter_error", "The conversation of the resume token cannot be read. Omit `resumeToken`.");
      }
    },

    /** Replaces the conversation of a token, or creates one if the token is undefined. Returns the token. */
    async write(home: string, token: string = `${TOKEN_PREFIX}${randomUUID()}`, messages: readonly ModelMessage[]): Promise<string> {
      await mkdir(directory, { recursive: true, mode: 0o700 });
      const file = fileOf(home, token);
      const draft = `${file}.${randomUUID()}`;
      try {
        await writeFile(draft, stringifyWellFormed({ messages: messages.map(reduceMessage) }), { mode: 0o600 });
        await rename(draft, file);
      } catch (error) {
        await rm(draft, { force: true });
        throw error;
      }
      return token;
    },

    /** Removes expired conversations, at most once per hour. */
    async sweep(now = Date.now()): Promise<void> {
      if (now - sweptAt < SWEEP_INTERVAL_MS) return;
      sweptAt = now;
      await removeOldFiles(directory, maxAgeMs, now);
    },
  };
}

/**
 * Removes vendor-specific parts of an answer, because vendors reject them in a request, thoughts, and images of tools, because of their
 * size.
 */
function reduceMessage(message: ModelMessage): ModelMessage {
  if (message.role === "tool")
    return {
      ...message,
      content: message.content.map((part) => (part.type === "tool-result" ? { ...part, output: omitImages(part.output) } : part)),
    };
  if (message.role !== "assistant" || typeof message.content === "string") return message;
  const content = message.content.filter(({ type }) => type !== "custom");
  return { ...message, content: content.map((part) => (part.type === "text" ? { ...part, text: omitThoughts(part.text) } : part)) };
}
