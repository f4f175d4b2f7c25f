import type { AdapterEvent } from "#contract";

/** Maximum length of a warning in an error message, in UTF-16 units. */
const WARNING_LENGTH = 500;

/**
 * Creates the memory of the last warning of a runtime. A warning is forgotten when the runtime continues with text or a tool call, because
 * it then no longer explains why the runtime waits.
 */
export function createLastWarning() {
  let warning = "";
  return {
    /** Records an event of the task. */
    add({ type, data }: AdapterEvent): void {
      if (type !== "execution.progress") warning = "";
      else warning = readWarning(data) ?? warning;
    },
    /** Appends the warning to an error message. */
    appendTo: (message: string): string =>
      warning === "" ? message : `${message} The last warning of the runtime: ${warning.toWellFormed().slice(0, WARNING_LENGTH)}`,
  };
}

/** Runtimes report a warning as `warning`, or as the `message` of a retry or of a severity. */
function readWarning({ warning, message, retry, severity }: Readonly<Record<string, unknown>>): string | undefined {
  const text = warning ?? (retry === undefined && severity === undefined ? undefined : message);
  return typeof text === "string" ? text.trim() : undefined;
}
