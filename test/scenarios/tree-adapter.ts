import { appendFile, readFile } from "node:fs/promises";
import path from "node:path";
import type { AdapterConfig } from "#contract";
import { createInMemoryAdapter } from "../adapters/in-memory-adapter.ts";

/** The message, as JSON, of a task that starts a child on `command`, and reads from the FIFO until the child has started. */
export interface ChildStart {
  child: string;
  fifo: string;
  /** Whether it waits for the end of the child. */
  waits: boolean;
}

/**
 * Appends the message to the file `notes.txt` of its working directory. For the message `fail`, it then fails with an error of its model;
 * for `parent`, it runs a child task on `command` that appends `child`. A `ChildStart` only starts a child.
 */
export function createAdapter() {
  let config: AdapterConfig | undefined;
  const adapter = createInMemoryAdapter({
    provider: "editing",
    async run({ taskId, message, directories }, emit) {
      if (message.startsWith("{")) {
        const { child, fifo, waits } = JSON.parse(message) as ChildStart;
        const ended = config?.runChild({ parentTaskId: taskId, provider: "command", message: child });
        await readFile(fifo);
        emit("assistant.text", { content: "The child works." });
        if (waits) await ended;
        return { output: "started" };
      }
      emit("tool.invoked", { toolCallId: "1", toolName: "edit", input: {} });
      await appendFile(path.join(directories.cwd, "notes.txt"), `${message}\n`);
      emit("tool.completed", { toolCallId: "1", toolName: "edit", output: "", isError: false });
      if (message === "fail") return { status: "error", errorCode: "model_error", error: "It failed." };
      const child = { parentTaskId: taskId, provider: "command", message: "echo child >> notes.txt" };
      if (message === "parent") return { output: String((await config?.runChild(child))?.status) };
      return { output: "done" };
    },
  });
  const initialize = async (given: AdapterConfig) => {
    config = given;
    await adapter.initialize(given);
  };
  return { ...adapter, initialize };
}
