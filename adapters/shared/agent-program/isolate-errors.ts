import { AsyncLocalStorage } from "node:async_hooks";

type OnFault = (error: unknown) => void;

/** Who hears of the faults of the code under way; nobody, where that is Bridge's own. */
const listeners = new AsyncLocalStorage<OnFault>();

/**
 * Runs code in Bridge's own process that is not Bridge's, such as an SDK. What it throws to its caller is the caller's; what nobody catches, now or
 * in anything that it begins, goes to `onFault` and ends nothing. A function that it calls back is Bridge's again by `AsyncResource.bind`.
 */
export const isolateErrors = <T>(onFault: OnFault, code: () => T): T => listeners.run(onFault, code);

/** For whoever takes the errors that nobody has caught: tells whom it concerns. False: it is Bridge's own. */
export function reportIsolatedError(error: unknown): boolean {
  const onFault = listeners.getStore();
  onFault?.(error);
  return onFault !== undefined;
}
