import type { ReactiveControllerHost } from "lit";
import { ApiError } from "../api.ts";

/** Lists load again after this time, because the event stream does not contain everything, such as a new queued task. */
export const SNAPSHOT_MS = 5_000;

/** What an element loads repeatedly. */
export interface Poll<T> {
  /** Undefined until the first response. */
  readonly value: T | undefined;
  /** Why the last request failed; null if it succeeded. */
  readonly error: ApiError | null;
  /** Loads now, or once more if a request is pending. */
  refresh(): void;
}

/** Loads while the element is connected and the page is visible. `onValue` receives each value before the element renders it. */
export function poll<T>(
  host: ReactiveControllerHost,
  load: (signal: AbortSignal) => Promise<T>,
  { intervalMs = () => SNAPSHOT_MS, onValue }: { intervalMs?: () => number; onValue?: (value: T) => void } = {},
): Poll<T> {
  const state: { value: T | undefined; error: ApiError | null } = { value: undefined, error: null };
  let connection: AbortController | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isLoading = false;
  let isStale = false;

  async function refresh(): Promise<void> {
    if (connection === null) return;
    if (isLoading) {
      isStale = true;
      return;
    }
    const { signal } = connection;
    clearTimeout(timer);
    isLoading = true;
    isStale = false;
    try {
      const value = await load(signal);
      if (signal.aborted) return;
      state.value = value;
      state.error = null;
      onValue?.(value);
    } catch (error) {
      if (signal.aborted) return;
      state.error = error instanceof ApiError ? error : new ApiError(0, "unexpected", String(error));
    } finally {
      isLoading = false;
      if (!signal.aborted) {
        host.requestUpdate();
        schedule(isStale ? 0 : intervalMs());
      }
    }
  }
  function schedule(delayMs: number): void {
    clearTimeout(timer);
    if (!document.hidden) timer = setTimeout(() => void refresh(), delayMs);
  }
  const onVisibilityChange = (): void => {
    if (!document.hidden) schedule(0);
  };

  host.addController({
    hostConnected() {
      connection = new AbortController();
      isLoading = false;
      document.addEventListener("visibilitychange", onVisibilityChange);
      // After the first properties of the element are set.
      void host.updateComplete.then(() => refresh());
    },
    hostDisconnected() {
      connection?.abort();
      connection = null;
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", onVisibilityChange);
    },
  });
  return {
    get value() {
      return state.value;
    },
    get error() {
      return state.error;
    },
    refresh: () => void refresh(),
  };
}
