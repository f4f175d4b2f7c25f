import { BridgeClientError } from "bridge-client";

/** Adds the id of the task to an error of a call, because a command can have several ids. */
export async function nameTask<T>(taskId: string, call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    if (!(error instanceof BridgeClientError) || (error.status !== 404 && error.status !== 409)) throw error;
    const { code, message, status, requestId } = error;
    throw new BridgeClientError(code, `Task "${taskId}": ${message}`, { status, requestId, cause: error });
  }
}
