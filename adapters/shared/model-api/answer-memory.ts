import { getHeapStatistics } from "node:v8";
import { PROCESS_LIMITS } from "../process/run-process.ts";

const MIB = 1024 ** 2;

/** Limit of one task, whose results of tools have the same limit. */
const MAX_TASK_BYTES = PROCESS_LIMITS.stdoutBytes;
/**
 * Limit of all tasks together. An answer takes up to 16 times its bytes while it is parsed, stored as an event and sent to the model, so a
 * small heap has a smaller limit: with 512 MB, one answer of the maximum size.
 */
const MAX_TOTAL_BYTES = Math.min(64 * MIB, getHeapStatistics().heap_size_limit / 16);
/** The first bytes of each task do not count towards the limit of all tasks, so that large answers do not stop calls with small ones. */
const UNCOUNTED_TASK_BYTES = MIB;

/** The memory of the answers of MCP servers in all tasks. */
type AnswerMemory = ReturnType<typeof createAnswerMemory>;
/** The memory of the answers of one task, from their first bytes until the task ends, because its conversation contains them. */
export type TaskAnswers = ReturnType<AnswerMemory["openTask"]>;

/**
 * Creates the limit on the bytes of the answers that Bridge keeps for all tasks. An answer does not wait for memory, because answers that
 * have arrived in part could wait for each other.
 */
export function createAnswerMemory({ taskBytes = MAX_TASK_BYTES, totalBytes = MAX_TOTAL_BYTES } = {}) {
  let total = 0;

  function openTask() {
    let held = 0;
    let isReleased = false;

    function set(bytes: number): void {
      total += countedBytes(bytes) - countedBytes(held);
      held = bytes;
    }

    function open() {
      let own = 0;
      return {
        /** Adds bytes. Throws an error for the model if the task, or all tasks, have too many. */
        take(bytes: number): void {
          if (isReleased) return;
          if (own + bytes > taskBytes) throw new Error(`The answer has more than ${taskBytes / MIB} MiB.`);
          if (held + bytes > taskBytes)
            throw new Error(`The answers of all MCP servers in this task have more than ${taskBytes / MIB} MiB. Ask for less.`);
          if (total + countedBytes(held + bytes) - countedBytes(held) > totalBytes)
            throw new Error("The answers of MCP servers in all tasks of Bridge occupy too much memory. Ask for less, or try again later.");
          own += bytes;
          set(held + bytes);
        },
        /** Removes the bytes of an answer that is not used. */
        drop(): void {
          if (!isReleased) set(held - own);
          own = 0;
        },
      };
    }

    return {
      /** Starts to count one answer. */
      open,
      /** Removes the bytes of all answers when the task ends. */
      release(): void {
        if (!isReleased) set(0);
        isReleased = true;
      },
    };
  }

  return { openTask };
}

const countedBytes = (bytes: number): number => Math.max(0, bytes - UNCOUNTED_TASK_BYTES);

/** The memory of this process, which all adapters share. */
export const answerMemory: AnswerMemory = createAnswerMemory();
