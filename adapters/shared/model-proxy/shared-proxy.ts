import type { ProgramContext } from "../agent-program/agent-program.ts";
import { type ModelProxy, openModelProxy } from "./proxy-server.ts";

export type SharedProxy = ReturnType<typeof createSharedProxy>;

/** Creates the proxy of an adapter, which its tasks share. It is opened by the first task. */
export function createSharedProxy(context: Pick<ProgramContext, "env" | "lookup">) {
  let opening: Promise<ModelProxy> | null = null;
  return {
    /** Returns the open proxy. Rejects if no port can be opened; the next call tries again. */
    open(): Promise<ModelProxy> {
      opening ??= openModelProxy(context);
      opening.catch(() => {
        opening = null;
      });
      return opening;
    },
    async close(): Promise<void> {
      await (await opening?.catch(() => null))?.close();
    },
  };
}
