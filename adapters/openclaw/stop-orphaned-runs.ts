import { z } from "zod";
import type { AdapterLogger } from "#contract";
import type { Gateway } from "./gateway.ts";
import type { GatewayEvent } from "./gateway-socket.ts";
import { retryAfterReconnect } from "./retry-after-reconnect.ts";
import { taskRowSchema } from "./run-result.ts";
import { stopSession } from "./run-task.ts";

const PAGE = 500;
const pageSchema = z.object({ tasks: z.array(taskRowSchema), nextCursor: z.string().nullish() });
const taskEventSchema = z.object({
  task: z.object({ sessionKey: z.string(), childSessionKey: z.string().optional(), status: z.literal("running") }),
});
const runEventSchema = z.object({
  sessionKey: z.string(),
  stream: z.literal("lifecycle"),
  data: z.object({ phase: z.enum(["start", "model"]) }),
});

/** Whose sessions these are. */
export interface OrphanedRunsOptions {
  gateway: Gateway;
  logger: AdapterLogger;
  /** Is it a session of this Bridge? */
  isOurs(key: string): boolean;
  /** Has it a task that follows it? */
  isFollowed(key: string): boolean;
}

/**
 * Stops what goes on in sessions of this Bridge without a task that follows it: runs of a Bridge that was killed, and what the gateway begins by
 * itself, after a restart or for a sub-agent that is done. Answers how to end the watch.
 */
export function stopOrphanedRuns({ gateway, logger, isOurs, isFollowed }: OrphanedRunsOptions): () => void {
  const stopping = new Set<string>();

  const stop = async (key: string): Promise<void> => {
    if (!isOurs(key) || isFollowed(key) || stopping.has(key)) return;
    stopping.add(key);
    logger.warn({ session: key }, "stopped a run in OpenClaw that no task waits for");
    await stopSession(gateway, key).finally(() => stopping.delete(key));
  };
  const sweep = async (): Promise<void> => {
    let cursor: string | null | undefined;
    do {
      const params = { status: ["queued", "running"], limit: PAGE, ...(cursor ? { cursor } : {}) };
      const page = pageSchema.parse(await gateway.call("tasks.list", params));
      await Promise.all(page.tasks.map(({ sessionKey = "" }) => stop(sessionKey)));
      cursor = page.nextCursor === cursor ? null : page.nextCursor;
    } while (cursor);
  };
  const ended = new AbortController();
  const onConnected = (): void => {
    // With the next connection it is tried again.
    retryAfterReconnect({ gateway, signal: ended.signal }, sweep).catch((error: unknown) => {
      if (!ended.signal.aborted) logger.warn({ reason: String(error) }, "could not look for runs in OpenClaw that no task waits for");
    });
  };
  const onEvent = ({ event, payload }: GatewayEvent): void => {
    const begun =
      event === "task"
        ? taskEventSchema.safeParse(payload).data?.task
        : event === "agent"
          ? runEventSchema.safeParse(payload).data
          : undefined;
    if (begun !== undefined) void stop(begun.sessionKey);
  };

  const ends = [gateway.onConnected(onConnected), gateway.onEvent(onEvent)];
  if (gateway.state === "connected") onConnected();
  return () => {
    ended.abort();
    for (const end of ends) end();
  };
}
