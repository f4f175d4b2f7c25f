import { z } from "zod";
import { ManagementError, type ManagementErrorCode } from "#contract";
import { GatewayError } from "../gateway-error.ts";

/** What the `details` of a refusal can tell. */
const detailsSchema = z.object({ type: z.string().optional(), code: z.string().optional(), missingScope: z.string().optional() }).catch({});
/** The gateway knows these refusals by their words only. */
const staleConfig = /config changed since last load|base ?hash/i;
const supersededChange = /^config\.patch persisted but was not applied .*\(superseded\)/;

/** Runs an operation of a manager. An error of the gateway becomes a ManagerError; an aborted call rejects with the reason of its signal. */
export async function withManagementErrors<T>(act: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  try {
    return await act();
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof GatewayError) throw explain(error);
    if (isFileSystemError(error))
      throw new ManagementError(
        "unavailable",
        `Bridge could not do this on the gateway's host (${error.code}). It needs the rights of the gateway's user in its workspaces and directories of skills.`,
        { cause: error },
      );
    throw error;
  }
}

/** A call of the file system that failed; its words name files of the machine. */
const isFileSystemError = (error: unknown): error is NodeJS.ErrnoException =>
  error instanceof Error && "syscall" in error && "code" in error && typeof error.code === "string";

/** Has somebody else changed the configuration between our reading and our writing? */
export const isStaleConfig = (error: unknown): boolean => error instanceof GatewayError && staleConfig.test(error.message);

/** Stands our change in the configuration, which somebody else has changed once more before the gateway could work with it? */
export const isSupersededChange = (error: unknown): boolean => error instanceof GatewayError && supersededChange.test(error.message);

/** Says the gateway that it has no such agent? */
export const isMissingAgent = (error: unknown): boolean => error instanceof GatewayError && /^agent ".*" not found$/.test(error.message);

function explain(error: GatewayError): ManagementError {
  const details = detailsSchema.parse(error.details ?? {});
  const told = redactPaths(error.message);
  const refusal = (code: ManagementErrorCode, message: string) => new ManagementError(code, message, { cause: error });
  switch (error.code) {
    case "INVALID_REQUEST":
      if (details.type === "agent_file_conflict" || isStaleConfig(error)) return refusal("stale_write", `${told}.`);
      if (isMissingAgent(error)) return refusal("not_found", `${told}.`);
      return refusal("invalid_request", `The gateway does not accept this: ${told}`);
    case "FORBIDDEN":
      return refusal(
        "unavailable",
        `The gateway does not let Bridge do this${details.missingScope === undefined ? "" : ` without the scope ${details.missingScope}`}: ${told}. Its token must be one of an operator with all scopes.`,
      );
    case "TOO_LARGE":
      return refusal("invalid_request", told);
    case "TIMEOUT":
    case "DISCONNECTED":
      return refusal("unavailable", `${told} Whether it was done is not known; read before you write again.`);
    default: {
      const seconds = error.retryAfterMs === null ? "" : ` Try again in ${Math.ceil(error.retryAfterMs / 1000)} s.`;
      return refusal("unavailable", `The gateway cannot do this now: ${told}.${seconds}`);
    }
  }
}

/** The gateway's words name files of its machine. */
export const redactPaths = (text: string): string => text.replaceAll(/(?<![\w:/.])(?:~?\/|[A-Za-z]:\\)[^\s"'`,;:()]+/g, "<path>");
