import { AsyncLocalStorage } from "node:async_hooks";

type ErrorListener = (error: unknown) => void;

/** The listener of the running code; undefined for Bridge's own code. */
const listeners = new AsyncLocalStorage<ErrorListener>();

/**
 * Runs third-party code, such as an SDK, in Bridge's process. `onError` receives its uncaught errors, including those
 * of its asynchronous work, so that they do not crash Bridge. Errors that the code throws to its caller are not
 * affected. If the code calls back into Bridge, wrap the callback in `AsyncResource.bind`.
 */
export const isolateErrors = <T>(onError: ErrorListener, code: () => T): T => listeners.run(onError, code);

/** Passes an uncaught error to the `onError` of the code that threw it. Returns false if the error is Bridge's own. */
export function reportIsolatedError(error: unknown): boolean {
  const onError = listeners.getStore();
  onError?.(error);
  return onError !== undefined;
}
