import { hash, randomUUID } from "node:crypto";
import { mkdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { type ModelMessage, modelMessageSchema } from "ai";
import { z } from "zod";
import { removeOldFiles } from "../agent-program/remove-old-files.ts";
import { ModelFailure } from "./model-failure.ts";

/** Beyond this a conversation is not gone on with: every turn sends all of it. */
const MAX_BYTES = 16 * 1024 ** 2;
const SWEEP_EVERY_MS = 3600 * 1000;

const storedSchema = z.object({ messages: z.array(modelMessageSchema) });

/** Tells a token of ours from a runtime's own id of a session. */
const tokenPrefix = "conversation-";
export const isConversationToken = (token: string): boolean => token.startsWith(tokenPrefix);

/**
 * Keeps the conversations of an adapter, one file each, outside of every agent's home: a task must not be able to rewrite what was said. A token
 * stands for one conversation, whatever is added to it, and is known only together with the home of its tenant's agent.
 */
export interface Conversations {
  /** Rejects with a `ModelFailure` when there is no such conversation any more, or it has grown too long. */
  read(home: string, token: string): Promise<ModelMessage[]>;
  /** Keeps a conversation in place of what was kept under its token; resolves with the token. Without one it is a new conversation. */
  write(home: string, token: string | undefined, messages: readonly ModelMessage[]): Promise<string>;
  /** Removes what has not been gone on with for the days of retention; does nothing when that was done within the hour. */
  sweep(now?: number): Promise<void>;
}

/** Opens the conversations in a directory, which need not exist. */
export function createConversations(directory: string, retentionDays: number): Conversations {
  const keptMs = retentionDays * 24 * 3600 * 1000;
  let sweptAt = Number.NEGATIVE_INFINITY;

  const fileOf = (home: string, token: string): string => path.join(directory, `${hash("sha256", `${home}\0${token}`)}.json`);

  return {
    async read(home, token) {
      const file = fileOf(home, token);
      const found = await stat(file).catch(() => null);
      if (found === null || Date.now() - found.mtimeMs > keptMs)
        throw new ModelFailure(
          "adapter_error",
          `The resume token is not known: no conversation of this agent has it, or it was kept longer than ${retentionDays} days. Dispatch without one.`,
        );
      if (found.size > MAX_BYTES)
        throw new ModelFailure(
          "adapter_error",
          `The conversation has grown over ${MAX_BYTES / 1024 ** 2} MiB. Dispatch without a resume token to begin a new one.`,
        );
      try {
        return storedSchema.parse(JSON.parse(await readFile(file, "utf8"))).messages;
      } catch {
        throw new ModelFailure("adapter_error", "The conversation of the resume token cannot be read. Dispatch without one.");
      }
    },

    async write(home, token = `${tokenPrefix}${randomUUID()}`, messages) {
      await mkdir(directory, { recursive: true, mode: 0o700 });
      const file = fileOf(home, token);
      const draft = `${file}.${randomUUID()}`;
      try {
        await writeFile(draft, JSON.stringify({ messages: messages.map(keepable) }), { mode: 0o600 });
        await rename(draft, file);
      } catch (error) {
        await rm(draft, { force: true });
        throw error;
      }
      return token;
    },

    async sweep(now = Date.now()) {
      if (now - sweptAt < SWEEP_EVERY_MS) return;
      sweptAt = now;
      await removeOldFiles(directory, keptMs, now);
    },
  };
}

/** What vendors put beside a message for themselves no vendor takes back. */
function keepable(message: ModelMessage): ModelMessage {
  if (message.role !== "assistant" || typeof message.content === "string") return message;
  return { ...message, content: message.content.filter(({ type }) => type !== "custom") };
}
