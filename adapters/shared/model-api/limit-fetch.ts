import { MAX_MESSAGE_VALUES } from "#contract";
import type { TaskAnswers } from "./answer-memory.ts";
import { limitBody } from "./limit-body.ts";
import type { ModelFetch } from "./model-endpoint.ts";

/** Maximum number of concurrent requests of one fetch. An MCP server can cause requests: Bridge answers each of its requests by a POST. */
const MAX_CONCURRENT = 100;

/** Limits of all answers of the MCP servers of one task until they are ready, because Bridge holds their lists of tools together. */
const MAX_START_BYTES = 8 * 1024 ** 2;
const MAX_START_VALUES = 4 * MAX_MESSAGE_VALUES;

/** The bytes and JSON values that the MCP servers of one task may still send, together, until they are ready. */
export interface StartBudget {
  /** Subtracts a part of an answer. Throws when nothing is left. */
  spend(bytes: number, values: number): void;
  /** Ends the limit. */
  end(): void;
}

/** Creates the budget of one task. */
export function createStartBudget(): StartBudget {
  const spent = { bytes: 0, values: 0 };
  let isEnded = false;
  return {
    spend(bytes, values) {
      if (isEnded) return;
      spent.bytes += bytes;
      spent.values += values;
      if (spent.bytes > MAX_START_BYTES || spent.values > MAX_START_VALUES)
        throw new Error(
          `The lists of tools of all servers have more than ${MAX_START_BYTES / 1024 ** 2} MiB or ${MAX_START_VALUES} JSON values.`,
        );
    },
    end() {
      isEnded = true;
    },
  };
}

/**
 * Wraps a fetch: a body ends with an error after `limitBytes` or too many JSON values, or if no memory is left for it in `answers`, and the
 * number of concurrent requests is limited. `signal` aborts all requests.
 */
export function limitFetch(
  fetch: ModelFetch,
  { limitBytes, start, answers, signal }: { limitBytes: number; start: StartBudget; answers: TaskAnswers; signal: AbortSignal },
): ModelFetch {
  const running = new Set<object>();
  return async (input, init) => {
    if (running.size >= MAX_CONCURRENT) throw new Error(`The limit of ${MAX_CONCURRENT} concurrent requests is reached.`);
    const answer = answers.open();
    const onEnd = (isWhole: boolean): void => {
      running.delete(answer);
      if (!isWhole) answer.drop();
    };
    running.add(answer);
    const signals = [signal, init?.signal].filter((one) => one !== null && one !== undefined);
    const response = await fetch(input, { ...init, signal: AbortSignal.any(signals) }).catch((error: unknown) => {
      onEnd(false);
      throw error;
    });
    return limitBody(response, {
      bytes: limitBytes,
      values: MAX_MESSAGE_VALUES,
      onChunk(bytes, values) {
        start.spend(bytes, values);
        answer.take(bytes);
      },
      createError: () => new Error(`The answer has more than ${limitBytes / 1024 ** 2} MiB or ${MAX_MESSAGE_VALUES} JSON values.`),
      onEnd,
    });
  };
}
