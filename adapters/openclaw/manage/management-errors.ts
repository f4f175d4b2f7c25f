import { z } from "zod";
import { ManagementError, type ManagementErrorCode } from "#contract";
import { GatewayError } from "../gateway-error.ts";

/** The known fields of a gateway error's `details`. */
const detailsSchema = z.object({ type: z.string().optional(), code: z.string().optional(), missingScope: z.string().optional() }).catch({});
// These two errors of the gateway have no code, so they are identified by their messages.
const STALE_CONFIG = /config changed since last load|base ?hash/i;
const SUPERSEDED_CHANGE = /^config\.patch persisted but was not applied .*\(superseded\)/;

/** Runs a management operation and converts gateway errors to ManagementErrors. An aborted call rejects with the reason of its signal. */
export async function convertGatewayErrors<T>(act: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  try {
    return await act();
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof GatewayError) throw explain(error);
    if (isFileSystemError(error))
      throw new ManagementError(
        "unavailable",
        `A file operation on the gateway's host failed (${error.code}). Bridge needs the file permissions of the gateway's user in its workspaces and skill directories.`,
        { cause: error },
      );
    throw error;
  }
}

/** Returns whether a file operation failed. The message of such an error contains paths of the host. */
const isFileSystemError = (error: unknown): error is NodeJS.ErrnoException =>
  error instanceof Error && "syscall" in error && "code" in error && typeof error.code === "string";

/** Returns whether another client changed the configuration between the read and the write. */
export const isStaleConfig = (error: unknown): boolean => error instanceof GatewayError && STALE_CONFIG.test(error.message);

/** Returns whether the change was written, but another change followed before the gateway applied it. */
export const isSupersededChange = (error: unknown): boolean => error instanceof GatewayError && SUPERSEDED_CHANGE.test(error.message);

/** Returns whether the gateway reports that the agent does not exist. */
export const isMissingAgent = (error: unknown): boolean => error instanceof GatewayError && /^agent ".*" not found$/.test(error.message);

function explain(error: GatewayError): ManagementError {
  const details = detailsSchema.parse(error.details ?? {});
  const message = redactPaths(error.message);
  const managementError = (code: ManagementErrorCode, text: string) => new ManagementError(code, text, { cause: error });
  switch (error.code) {
    case "INVALID_REQUEST":
      if (details.type === "agent_file_conflict" || isStaleConfig(error)) return managementError("stale_write", `${message}.`);
      if (isMissingAgent(error)) return managementError("not_found", `${message}.`);
      return managementError("invalid_request", `The gateway rejected the request: ${message}`);
    case "FORBIDDEN":
      return managementError(
        "unavailable",
        `The gateway rejected the request${details.missingScope === undefined ? "" : ` because the scope ${details.missingScope} is missing`}: ${message}. Set BRIDGE_OPENCLAW_TOKEN to the token of an operator with all scopes.`,
      );
    case "TOO_LARGE":
      return managementError("invalid_request", message);
    case "TIMEOUT":
    case "DISCONNECTED":
      return managementError("unavailable", `${message} The change may have been made. Read the resource before you write it again.`);
    default: {
      const seconds = error.retryAfterMs === null ? "" : ` Try again in ${Math.ceil(error.retryAfterMs / 1000)} s.`;
      return managementError("unavailable", `The gateway is unavailable: ${message}.${seconds}`);
    }
  }
}

/** Replaces file paths, because error messages of the gateway contain paths of its host. */
export const redactPaths = (text: string): string => text.replaceAll(/(?<![\w:/.])(?:~?\/|[A-Za-z]:\\)[^\s"'`,;:()]+/g, "<path>");
