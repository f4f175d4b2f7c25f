import type { ServiceInfo } from "bridge-client";
import type { FoundAddress } from "../find-connection.ts";
import { type Check, failed, ok, warning } from "./check.ts";

/** Time limit of one plain request. */
export const REQUEST_LIMIT_MS = 10_000;

/** What the first response showed, and the checks of it. `info` is null if no Bridge answered. */
export interface AddressAnswer {
  checks: Check[];
  info: ServiceInfo | null;
  /** The value of `Date`, with the local times before the request and after the response. */
  clock: { date: string | null; sentAt: number; receivedAt: number } | null;
}

/** Checks that a Bridge answers at the address, and that it accepts tasks. */
export async function checkAddress({ url, urlSource }: FoundAddress, signal: AbortSignal): Promise<AddressAnswer> {
  const limited = (): AbortSignal => AbortSignal.any([signal, AbortSignal.timeout(REQUEST_LIMIT_MS)]);
  const sentAt = Date.now();
  let response: Response;
  let info: ServiceInfo | null;
  try {
    response = await fetch(`${url}/`, { headers: { accept: "application/json" }, redirect: "manual", signal: limited() });
    info = readInfo(await response.text());
  } catch (error) {
    signal.throwIfAborted();
    const { reason, remedy } = explain(error, url, urlSource);
    return { checks: [failed("address", `${url} (from ${urlSource}) cannot be reached: ${reason}.`, remedy)], info: null, clock: null };
  }
  if (info === null) {
    const detail = `${url} (from ${urlSource}) answers with HTTP ${response.status}, but is not a Bridge.`;
    const remedy = `Correct ${urlSource}: it must be the address of Bridge, including the path prefix of a proxy.`;
    return { checks: [failed("address", detail, remedy)], info, clock: null };
  }
  const clock = { date: response.headers.get("date"), sentAt, receivedAt: Date.now() };
  const ready = await fetch(`${url}/readyz`, { signal: limited() })
    .then(async (answer) => checkReady(answer.status, await answer.text()))
    .catch((error: unknown) => {
      signal.throwIfAborted();
      return failed("ready", `/readyz did not answer: ${reasonOf(error)}.`, "Read the log of Bridge, and restart it.");
    });
  return { checks: [ok("address", `${url} (from ${urlSource})`), ready], info, clock };
}

function readInfo(text: string): ServiceInfo | null {
  try {
    const value = JSON.parse(text) as Partial<ServiceInfo> | null;
    return value?.name === "Bridge" && typeof value.version === "string" ? (value as ServiceInfo) : null;
  } catch {
    return null;
  }
}

const readyRemedies: Readonly<Record<string, string>> = {
  draining: "Wait until Bridge has stopped, and start it again: npm start",
  adapter_offline: "Mend an adapter: the checks of the adapters name the command.",
  storage_unavailable: "Free space on the disk of BRIDGE_DATA_DIR. If the database is damaged: docs/operations.md#damage",
};

function checkReady(status: number, text: string): Check {
  let problem: { code?: string; detail?: string; warnings?: string[] } = {};
  try {
    problem = (JSON.parse(text) as typeof problem | null) ?? {};
  } catch {
    // A proxy can answer with another format.
  }
  if (status === 200 && (problem.warnings ?? []).length > 0)
    return warning(
      "ready",
      `Bridge accepts tasks. ${problem.warnings?.join(". ")}.`,
      "Correct the file. The log of Bridge lists the faults.",
    );
  if (status === 200) return ok("ready", "Bridge accepts tasks.");
  const remedy = readyRemedies[problem.code ?? ""] ?? "Read the log of Bridge.";
  return failed("ready", `/readyz answers with HTTP ${status}: ${problem.detail ?? "no reason"}`, remedy);
}

function explain(error: unknown, url: string, urlSource: string): { reason: string; remedy: string } {
  const reason = reasonOf(error);
  const code = codeOf(error);
  const select = "or select another one: brg profile add <name> --url <url>";
  if (/^(DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|CERT_)/.test(code))
    return { reason, remedy: "Set NODE_EXTRA_CA_CERTS to the file with the certificate of your authority." };
  if (code === "ENOTFOUND" || code === "EAI_AGAIN") return { reason, remedy: `Correct the host in ${urlSource}, ${select}` };
  return { reason, remedy: `Start the Bridge at ${url}, in its directory with: brg serve, or npm start in a clone, ${select}` };
}

/** Returns the reason of a failed request without the generic message of `fetch`. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === "TimeoutError") return `no answer within ${REQUEST_LIMIT_MS / 1000} s`;
  const { cause } = error;
  if (!(cause instanceof Error)) return error.message;
  // The error of several failed addresses of a name has no message.
  return cause.message || codeOf(error) || error.message;
}

function codeOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && "code" in cause ? String(cause.code) : "";
}
