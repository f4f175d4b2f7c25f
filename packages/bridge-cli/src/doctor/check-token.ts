import { BridgeClientError, type Identity, type Scope } from "bridge-client";
import type { Connection } from "../connection.ts";
import { formatRelative } from "../format.ts";
import { type Check, failed, ok, warning } from "./check.ts";

/** What the scopes allow. Without the required ones, most commands fail. */
const scopeUses: readonly { scope: Scope; isRequired: boolean; use: string }[] = [
  { scope: "dispatch", isRequired: true, use: "dispatch and cancel tasks" },
  { scope: "read", isRequired: true, use: "read tasks and events" },
  { scope: "approve", isRequired: false, use: "decide approvals" },
  { scope: "manage", isRequired: false, use: "check adapters" },
];
const EXPIRES_SOON_MS = 7 * 86_400_000;

/** Checks that Bridge accepts the token, and that it has the scopes which commands need. `identity` is null if it is not accepted. */
export async function checkToken(
  { client, url, tokenSource }: Connection,
  signal: AbortSignal,
): Promise<{ checks: Check[]; identity: Identity | null }> {
  const save = `brg profile add <name> --url ${url}`;
  let identity: Identity;
  try {
    identity = await client.getIdentity({ signal });
  } catch (error) {
    if (!(error instanceof BridgeClientError)) throw error;
    const isRejected = error.status === 401;
    const detail = isRejected ? `Bridge rejects the token from ${tokenSource}.` : `The token was not checked: ${error.message}`;
    const hint = tokenSource.startsWith("the file ")
      ? ". If Bridge has generated it: with BRIDGE_TOKENS_FILE, it is valid only with its hash in BRIDGE_GATEWAY_TOKEN_HASH"
      : "";
    const remedy = isRejected ? `Set BRIDGE_TOKEN to a valid token, or save one with: ${save}${hint}` : "Run brg doctor again.";
    return { checks: [failed("token", detail, remedy)], identity: null };
  }
  return { identity, checks: [checkExpiry(identity, tokenSource, save), ...checkScopes(identity, save)] };
}

function checkExpiry({ name, tenant, expiresAt }: Identity, tokenSource: string, save: string): Check {
  const detail = `The token "${name}" from ${tokenSource}, of the tenant "${tenant}"`;
  if (expiresAt === null || Date.parse(expiresAt) - Date.now() > EXPIRES_SOON_MS) return ok("token", detail);
  return warning("token", `${detail}, expires ${formatRelative(expiresAt)}.`, `Create another token, and save it with: ${save}`);
}

function checkScopes({ name, scopes }: Identity, save: string): Check[] {
  const missing = scopeUses.filter(({ scope }) => !scopes.includes(scope));
  if (missing.length === 0) return [ok("scopes", scopes.join(", "))];
  return missing.map(({ scope, isRequired, use }) =>
    (isRequired ? failed : warning)(
      "scopes",
      `The token "${name}" lacks the scope "${scope}", so it cannot ${use}.`,
      `Add "${scope}" to the scopes of "${name}" in BRIDGE_TOKENS_FILE of Bridge, or use another token: ${save}`,
    ),
  );
}
