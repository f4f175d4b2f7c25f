import { BridgeClientError } from "./bridge-client-error.ts";
import { createPatience, type PatienceOptions } from "./patience.ts";

/** Bridge did nothing and says when to come back. An adapter that is offline waits for a person: that is the caller's to know. */
const isPutOff = ({ status, code }: BridgeClientError): boolean => (status === 429 || status === 503) && code !== "adapter_offline";

/** Whether Bridge did something is not known. */
const isUncertain = ({ status, code }: BridgeClientError): boolean =>
  code === "unreachable" || code === "too_slow" || status === 502 || status === 504;

/** Is a failed request worth another try, and safe? `isRepeatable`: done twice is the same as done once. */
export function canBeTriedAgain(error: unknown, isRepeatable: boolean): error is BridgeClientError {
  return error instanceof BridgeClientError && (isPutOff(error) || (isRepeatable && isUncertain(error)));
}

/** Acts until it succeeds, within the limits of patience. */
export async function keepTrying<T>(
  act: () => Promise<T>,
  { isRepeatable, signal, ...options }: PatienceOptions & { isRepeatable: boolean; signal: AbortSignal | undefined },
): Promise<T> {
  const patience = createPatience(options);
  for (;;) {
    try {
      return await act();
    } catch (error) {
      if (!canBeTriedAgain(error, isRepeatable)) throw error;
      await patience.wait(error, signal);
    }
  }
}
