import { type Attention, type BridgeClient, BridgeClientError } from "bridge-client";
import { type Check, failed, ok, warning } from "./check.ts";

/** Receivers that are named; the list of the remedy has all. */
const MAX_NAMED = 3;
/** Bridge counts faults up to this number. */
const MAX_COUNTED = 1000;

/** Counts the callbacks that are dead and that no person has acknowledged. Earlier versions of Bridge do not report them. */
export async function checkDeadCallbacks(client: Pick<BridgeClient, "attention">, signal: AbortSignal): Promise<Check[]> {
  try {
    return [describe(await client.attention.list({ limit: 1 }, { signal }))];
  } catch (error) {
    if (error instanceof BridgeClientError && error.status === 404) return [];
    if (signal.aborted || !(error instanceof BridgeClientError)) throw error;
    return [failed("dead callbacks", error.message, "Run the command again. If the fault stays, the log of Bridge has its cause.")];
  }
}

function describe({ counts, receivers }: Attention): Check {
  const check = "dead callbacks";
  const { callback: dead } = counts;
  if (dead === 0) return ok(check, "No callback is dead.");
  const origins = receivers.filter(({ kind }) => kind === "callback");
  const named = origins.slice(0, MAX_NAMED).map(({ receiver, count }) => `${receiver} (${count})`);
  const others = origins.length > named.length ? ` and ${origins.length - named.length} other(s)` : "";
  const [first] = origins;
  const origin = first === undefined || origins.length > 1 ? "<url>" : quote(first.receiver);
  return warning(
    check,
    `Bridge no longer retries ${dead >= MAX_COUNTED ? "at least " : ""}${dead} callback(s): ${named.join(", ")}${others}.`,
    `Mend the receiver, then run: brg redeliver --dead --origin ${origin}, or acknowledge them: brg attention --acknowledge callback --receiver ${origin}`,
  );
}

/** A host can contain characters with a meaning for the shell. */
const quote = (text: string): string => (/^[\w.:/-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`);
