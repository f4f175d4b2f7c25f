import type { Logger } from "pino";
import type { AdapterLogger } from "#contract";
import { traceFields } from "../../trace-context.ts";

/**
 * Creates the logger of an adapter. It adds the ids of the trace to lines with the `taskId` of a running task, so that no adapter has to.
 * `findTraceparent` returns null for a task without a trace.
 */
export function createAdapterLogger(logger: Logger, findTraceparent: (taskId: string) => string | null): AdapterLogger {
  const log =
    (level: "debug" | "info" | "warn" | "error") =>
    (fields: object, message: string): void => {
      if (!logger.isLevelEnabled(level)) return;
      const { taskId } = fields as { taskId?: unknown };
      logger[level](typeof taskId === "string" ? { ...fields, ...traceFields(findTraceparent(taskId)) } : fields, message);
    };
  return { debug: log("debug"), info: log("info"), warn: log("warn"), error: log("error") };
}
