import { BridgeClientError } from "./bridge-client-error.ts";
import { type BridgeRequest, type ConnectionOptions, connect } from "./connection.ts";
import { createPatience, type PatienceOptions } from "./patience.ts";

/** Bridge did nothing and says when to come back. An adapter that is offline waits for a person: that is the caller's to know. */
const isPutOff = ({ status, code }: BridgeClientError): boolean => (status === 429 || status === 503) && code !== "adapter_offline";

/** Whether Bridge did something is not known. */
const isUncertain = ({ status, code }: BridgeClientError): boolean =>
  code === "unreachable" || code === "too_slow" || status === 502 || status === 504;

/** Is a failed request worth another try, and safe? `isRepeatable`: done twice is the same as done once. */
export function canBeTriedAgain(error: unknown, { isRepeatable }: { isRepeatable: boolean }): error is BridgeClientError {
  return error instanceof BridgeClientError && (isPutOff(error) || (isRepeatable && isUncertain(error)));
}

/** Sends a request until it is answered with a success, within the limits of patience, and reads the JSON that comes. */
export async function requestJson<T>(
  { isRepeatable = true, ...request }: BridgeRequest & { isRepeatable?: boolean },
  options: ConnectionOptions & PatienceOptions,
): Promise<{ value: T; headers: Headers }> {
  const patience = createPatience(options);
  for (;;) {
    try {
      const { response, receive, close } = await connect(options, request);
      const text = await receive(response.text()).finally(close);
      return { value: parseJson<T>(text, response), headers: response.headers };
    } catch (error) {
      if (!canBeTriedAgain(error, { isRepeatable })) throw error;
      await patience.wait(error, request.signal);
    }
  }
}

function parseJson<T>(text: string, { status, headers }: Response): T {
  try {
    return JSON.parse(text) as T;
  } catch (cause) {
    const requestId = headers.get("x-request-id");
    throw new BridgeClientError("unexpected_answer", `HTTP ${status}: ${text.slice(0, 200)}`, { status, requestId, cause });
  }
}
