import { stringifyWellFormed } from "#contract";
import type { Metrics } from "../metrics.ts";
import type { Outbox } from "../posts/outbox.ts";
import { createPostWorker, type PostMessages, type PostWorkerSettings, type PostWorkerTools } from "../posts/post-worker.ts";
import { readSigningKeys } from "../posts/sign.ts";
import type { CallbackSettlement, CallbackStore, DueCallback, PostSettlement } from "../store/posts/interface.ts";
import { isProbe } from "../task.ts";
import { traceIdsOf } from "../trace-context.ts";
import { createCallbackEnvelope } from "./callback-envelope.ts";

/** The callback settings of the configuration. */
export interface CallbackSettings extends PostWorkerSettings {
  /** `whsec_…`. Callbacks carry one signature for each. */
  secrets: readonly string[];
}

/** The parts that a callback worker uses. */
export interface CallbackWorkerOptions extends PostWorkerTools {
  store: Pick<CallbackStore, "onCallback" | "listDueCallbackQueues" | "listDueCallbacks" | "nextCallbackInMs" | "settleCallbackIfPending">;
  metrics: Pick<Metrics, "callbackAttempts" | "callbackDead" | "callbackLag">;
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
  const { store, metrics, config, logger, hasSpans = false } = options;
  const identify = (callback: DueCallback): object => ({ ...toLogFields(callback), ...(hasSpans && toTraceFields(callback)) });
  const toEnvelope = createCallbackEnvelope(readSigningKeys(config.secrets));
  const worker = createPostWorker<DueCallback>({
    ...options,
    outbox: toOutbox(store),
    metrics: { attempts: metrics.callbackAttempts, dead: metrics.callbackDead, lag: metrics.callbackLag },
    ...{ toEnvelope, identify, messages, limitRetries, keepsHistory: true },
  });
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

const toOutbox = (store: CallbackWorkerOptions["store"]): Outbox<DueCallback> => ({
  onPost: (listener) => store.onCallback(listener),
  listDueQueues: () => store.listDueCallbackQueues(),
  listDue: (queue, limit, inProgress) => store.listDueCallbacks(queue, limit, inProgress),
  nextInMs: () => store.nextCallbackInMs(),
  settleIfPending: (callback, settlement) => store.settleCallbackIfPending(callback, { ...settlement, event: toEvent(settlement) }),
});

/** Returns the event of the task with which a callback ends. */
function toEvent({ state, lastStatus, lastError }: PostSettlement): CallbackSettlement["event"] {
  if (state === "pending") return null;
  const facts = state === "delivered" ? { status: lastStatus } : { lastStatus, lastError };
  return (attempts) => ({ type: `callback.${state}`, data: stringifyWellFormed({ attempts, ...facts }) });
}

/** A probe reports its first attempt, and must not leave a callback behind that is pending. */
const limitRetries = ({ task }: DueCallback): number | null => (isProbe(task) ? 0 : null);

/** Returns the log fields of a callback, with only the origin of its URL, because the rest may contain secrets. */
function toLogFields({ task, receiver }: DueCallback): object {
  return { taskId: task.taskId, tenant: task.tenant, agentId: task.agentId, provider: task.provider, origin: receiver };
}

/** Returns the ids of the span of the next attempt. */
function toTraceFields({ task: { seq, tenant, taskId }, traceparent, attempts }: DueCallback): object {
  const ids = traceIdsOf({ seq, tenant, taskId, traceparent });
  return { trace_id: ids.traceId, span_id: ids.spanId("attempt", attempts + 1) };
}
