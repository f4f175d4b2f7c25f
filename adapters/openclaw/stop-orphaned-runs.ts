import { z } from "zod";
import type { AdapterLogger } from "#contract";
import type { Gateway } from "./gateway.ts";
import type { GatewayEvent } from "./gateway-socket.ts";
import { retryAfterReconnect } from "./retry-after-reconnect.ts";
import { taskRowSchema } from "./run-result.ts";
import { stopSession } from "./run-task.ts";

const PAGE_SIZE = 500;
const pageSchema = z.object({ tasks: z.array(taskRowSchema), nextCursor: z.string().nullish() });
const taskEventSchema = z.object({
  task: z.object({ sessionKey: z.string(), childSessionKey: z.string().optional(), status: z.literal("running") }),
});
const runEventSchema = z.object({
  sessionKey: z.string(),
  stream: z.literal("lifecycle"),
  data: z.object({ phase: z.enum(["start", "model"]) }),
});

/** Options of `stopOrphanedRuns`. */
export interface OrphanedRunsOptions {
  gateway: Gateway;
  logger: AdapterLogger;
  /** Whether the session belongs to this Bridge. */
  isOurs(key: string): boolean;
  /** Whether a task uses the session. */
  isSessionInUse(key: string): boolean;
}

/**
 * Watches the gateway, and stops active runs in sessions of this Bridge that no task uses: runs that remain after Bridge was killed, and
 * runs that the gateway starts on its own after a restart or when a sub-agent completes. Returns the function that ends the watch.
 */
export function stopOrphanedRuns({ gateway, logger, isOurs, isSessionInUse }: OrphanedRunsOptions): () => void {
  const stopping = new Set<string>();

  const stop = async (key: string): Promise<void> => {
    if (!isOurs(key) || isSessionInUse(key) || stopping.has(key)) return;
    stopping.add(key);
    logger.warn({ session: key }, "stopping an orphaned OpenClaw run");
    await stopSession(gateway, key).finally(() => stopping.delete(key));
  };
  const sweep = async (): Promise<void> => {
    let cursor: string | null | undefined;
    do {
      const params = { status: ["queued", "running"], limit: PAGE_SIZE, ...(cursor ? { cursor } : {}) };
      const page = pageSchema.parse(await gateway.call("tasks.list", params));
      await Promise.all(page.tasks.map(({ sessionKey = "" }) => stop(sessionKey)));
      cursor = page.nextCursor === cursor ? null : page.nextCursor;
    } while (cursor);
  };
  const ended = new AbortController();
  const onConnected = (): void => {
    // The next connect repeats a failed sweep.
    retryAfterReconnect({ gateway, signal: ended.signal }, sweep).catch((error: unknown) => {
      if (!ended.signal.aborted) logger.warn({ reason: String(error) }, "failed to list orphaned OpenClaw runs");
    });
  };
  const onEvent = ({ event, payload }: GatewayEvent): void => {
    const run =
      event === "task"
        ? taskEventSchema.safeParse(payload).data?.task
        : event === "agent"
          ? runEventSchema.safeParse(payload).data
          : undefined;
    if (run !== undefined) void stop(run.sessionKey);
  };

  const removeListeners = [gateway.onConnected(onConnected), gateway.onEvent(onEvent)];
  if (gateway.state === "connected") onConnected();
  return () => {
    ended.abort();
    for (const removeListener of removeListeners) removeListener();
  };
}
