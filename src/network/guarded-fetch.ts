import { Agent, fetch as fetchOf } from "undici";
import type { DestinationGuard } from "./destination-guard.ts";

/** A fetch for addresses that a dispatch has named. */
export interface GuardedFetch {
  /** Connects only where the guard allows, and takes a redirect for a failure: nobody has checked where it leads. */
  fetch: typeof globalThis.fetch;
  close(): Promise<void>;
}

/** Makes a fetch behind the guard. How long an answer may take is for whoever asks. */
export function createGuardedFetch(guard: Pick<DestinationGuard, "connector">): GuardedFetch {
  const dispatcher = new Agent({ connect: guard.connector, headersTimeout: 0, bodyTimeout: 0 });
  const guarded: typeof fetchOf = (input, init) => fetchOf(input, { ...init, dispatcher, redirect: "error" });
  return {
    // The same function by another name: Node's own types of it come from its own copy of undici.
    fetch: guarded as unknown as typeof globalThis.fetch,
    close: () => dispatcher.destroy(),
  };
}
