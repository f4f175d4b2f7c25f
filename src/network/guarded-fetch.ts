import { Agent, fetch as undiciFetch } from "undici";
import type { DestinationGuard } from "./destination-guard.ts";

/** A fetch for URLs from dispatches. */
export interface GuardedFetch {
  /** Connects only to destinations that the guard permits. A redirect is an error, because its target has not been checked. */
  fetch: typeof globalThis.fetch;
  close(): Promise<void>;
}

/** Creates a fetch behind the guard. It has no timeout; callers set their own. */
export function createGuardedFetch(guard: Pick<DestinationGuard, "connector">): GuardedFetch {
  const dispatcher = new Agent({ connect: guard.connector, headersTimeout: 0, bodyTimeout: 0 });
  const fetchGuarded: typeof undiciFetch = (input, init) => undiciFetch(input, { ...init, dispatcher, redirect: "error" });
  return {
    // Node's types of fetch come from its own copy of undici.
    fetch: fetchGuarded as unknown as typeof globalThis.fetch,
    close: () => dispatcher.destroy(),
  };
}
