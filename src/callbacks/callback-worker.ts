import type { DueCallback } from "../store/posts/interface.ts";
import { isProbe } from "../task.ts";
import { traceIdsOf } from "../trace-context.ts";
import { createCallbackEnvelope } from "./callback-envelope.ts";
import type { CallbackOutbox } from "./callback-outbox.ts";
import { createPostWorker, type PostMessages, type PostWorkerSettings, type PostWorkerTools } from "./post-worker.ts";
import { readSigningKeys } from "./sign-callback.ts";

/** The callback settings of the configuration. */
export interface CallbackSettings extends PostWorkerSettings {
  /** `whsec_…`. Callbacks carry one signature for each. */
  secrets: readonly string[];
}

/** The parts that a callback worker uses. */
export interface CallbackWorkerOptions extends PostWorkerTools {
  store: CallbackOutbox;
  config: CallbackSettings;
  /** Whether each attempt has a span, whose ids its log lines contain. */
  hasSpans?: boolean;
}

export type CallbackWorker = ReturnType<typeof createCallbackWorker>;

const messages: PostMessages = {
  attempt: "callback attempt",
  dead: "callback dead",
  notRead: "failed to read due callbacks",
  notSettled: "failed to settle callback, posting it again",
};

/** Creates the worker that posts callbacks. */
export function createCallbackWorker(options: CallbackWorkerOptions) {
  const { config, logger, hasSpans = false } = options;
  const identify = (callback: DueCallback): object => ({ ...toLogFields(callback), ...(hasSpans && toTraceFields(callback)) });
  const toEnvelope = createCallbackEnvelope(readSigningKeys(config.secrets));
  const worker = createPostWorker<DueCallback>({ ...options, toEnvelope, identify, messages, limitRetries, keepsHistory: true });
  return {
    ...worker,
    /** Starts to post callbacks, first those that are due. */
    start(): void {
      if (config.secrets.length === 0)
        logger.warn({}, "callbacks are not signed, set BRIDGE_CALLBACK_SECRETS so that receivers can verify them");
      worker.start();
    },
  };
}

/** A probe reports its first attempt, and must not leave a callback behind that is pending. */
const limitRetries = ({ task }: DueCallback): number | null => (isProbe(task) ? 0 : null);

/** Returns the log fields of a callback, with only the origin of its URL, because the rest may contain secrets. */
function toLogFields({ task, origin }: DueCallback): object {
  return { taskId: task.taskId, tenant: task.tenant, agentId: task.agentId, provider: task.provider, origin };
}

/** Returns the ids of the span of the attempt that follows. */
function toTraceFields({ task: { seq, tenant, taskId }, traceparent, attempts }: DueCallback): object {
  const ids = traceIdsOf({ seq, tenant, taskId, traceparent });
  return { trace_id: ids.traceId, span_id: ids.spanId("attempt", attempts + 1) };
}
