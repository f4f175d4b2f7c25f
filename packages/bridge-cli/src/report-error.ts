import { BridgeClientError } from "bridge-client";
import { CommandError } from "./command-error.ts";
import type { Connection } from "./connection.ts";
import { exitCodeOfError } from "./exit-code-of.ts";
import { type ExitCode, exitCodes } from "./exit-codes.ts";
import type { Output } from "./output.ts";
import { programName } from "./program-name.ts";
import { escapeHidden } from "./show-hidden.ts";
import { paint } from "./text.ts";

/** What a user needs to know about an error. */
interface Description {
  code: string;
  detail: string;
  errors: readonly { path: string; message: string }[];
  hint: string | null;
  requestId: string | null;
  status: number | null;
}

/** Prints an error to stderr, with `--json` as a problem document, and returns the exit code. */
export async function reportError(error: unknown, output: Output, connection: Connection | null): Promise<ExitCode> {
  output.status.clear();
  const exitCode = exitCodeOfError(error);
  const { code, detail, errors, hint, requestId, status } = await describe(error, connection);
  if (output.format === "json") {
    const type = `urn:bridge:error:${code}`;
    output.warn(escapeHidden(JSON.stringify({ type, ...(status !== null && { status }), code, detail, errors, hint, requestId })));
    return exitCode;
  }
  output.warn([paint("red", `${programName()}:`), ` ${detail}`]);
  for (const { path, message } of errors) output.warn(`  ${path}: ${message}`);
  if (hint !== null) output.warn(hint);
  if (exitCode === exitCodes.failed && requestId !== null) output.warn(`Request id: ${requestId}`);
  return exitCode;
}

async function describe(error: unknown, connection: Connection | null): Promise<Description> {
  const nothing = { errors: [], hint: null, requestId: null, status: null };
  if (error instanceof CommandError) return { ...nothing, code: error.kind, detail: error.message, hint: error.hint };
  if (!(error instanceof BridgeClientError))
    return { ...nothing, code: "failed", detail: error instanceof Error ? error.message : String(error) };
  const { code, message, errors, requestId, status } = error;
  return { code, detail: message, errors, requestId, status, hint: connection === null ? null : await adviseOn(error, connection) };
}

/** Returns what the user can do about an error of Bridge. */
async function adviseOn({ code, status }: BridgeClientError, connection: Connection): Promise<string | null> {
  const { url, urlSource, tokenSource } = connection;
  if (code === "unreachable") return `The address is from ${urlSource}. Start Bridge, or select another one with --url or --profile.`;
  if (code === "unexpected_answer") return `Check that ${url} (from ${urlSource}) is a Bridge.`;
  if (status === 401) return `Bridge at ${url} rejected the token from ${tokenSource}. Set BRIDGE_TOKEN, or use another profile.`;
  if (status === 403) return adviseOnScopes(connection);
  if (code === "unknown_provider") return "List the adapters with: brg adapters";
  return null;
}

async function adviseOnScopes({ client, tokenSource }: Connection): Promise<string> {
  try {
    const { name, scopes } = await client.getIdentity();
    return `The token "${name}" from ${tokenSource} has only: ${scopes.join(", ")}.`;
  } catch {
    // The first error is more important.
    return `The token is from ${tokenSource}.`;
  }
}
