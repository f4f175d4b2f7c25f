import { type Adapter, BridgeClientError, type Identity } from "bridge-client";
import type { Connection } from "../connection.ts";
import { type Check, failed, ok, warning } from "./check.ts";

/** What the checks of adapters need. */
export interface AdapterCheckOptions {
  connection: Connection;
  scopes: Identity["scopes"];
  /** Checks only this adapter. */
  provider: string | undefined;
  signal: AbortSignal;
}

/**
 * Checks every adapter, or one, now if the token has the scope for it, and otherwise by the result of its last check. Also checks that the
 * sandbox works which the operator has enabled.
 */
export async function checkAdapters(options: AdapterCheckOptions): Promise<{ checks: Check[]; adapters: Adapter[] }> {
  const { connection, scopes, provider, signal } = options;
  const { client } = connection;
  const listed: Adapter[] = [];
  for await (const adapter of client.listAdapters({ signal })) listed.push(adapter);
  const selected = provider === undefined ? listed : listed.filter((one) => one.provider === provider);
  const adapters = await Promise.all(
    selected.map(async (adapter) => {
      if (!scopes.includes("manage")) return adapter;
      try {
        return await client.checkAdapter(adapter.provider, { signal });
      } catch (error) {
        // The adapter is on another node, or was checked too often; the list has its last result.
        if (error instanceof BridgeClientError && (error.status === 404 || error.status === 429)) return adapter;
        throw error;
      }
    }),
  );
  if (provider !== undefined && adapters.length === 0) return { adapters, checks: [reportUnknown(provider, listed)] };
  return { adapters, checks: [...adapters.map(checkAdapter), ...checkSandbox(adapters)] };
}

function reportUnknown(provider: string, listed: readonly Adapter[]): Check {
  const names = listed.map((adapter) => adapter.provider);
  return failed(
    `adapter ${provider}`,
    `Bridge has loaded no adapter "${provider}", only: ${names.join(", ")}.`,
    `Restart Bridge with BRIDGE_ADAPTERS=${[...names, provider].join(",")}`,
  );
}

function checkAdapter({ provider, health, capabilities }: Adapter): Check {
  const check = `adapter ${provider}`;
  const { status, detail, connection, version, checkedAt, preflight } = health;
  if (status === "healthy") return ok(check, ["healthy", connection, version].filter((part) => part !== null).join(", "));
  if (status === "degraded" && checkedAt === null) return warning(check, "The first check is under way.", "Run brg doctor again.");
  const steps = preflight.filter((step) => !step.ok && step.step !== SANDBOX_STEP);
  // An adapter that is degraded has a connection, so the others are not missing. Each detail contains its remedy.
  const faults = steps.filter(({ step }) => status === "offline" || !step.endsWith("connection")).map((step) => step.detail);
  if (faults.length > 1) return failed(check, `${status}: no connection works. One of them is enough.`, faults.join(" Or "));
  const reason = detail ?? faults[0] ?? "The reason is in the log of Bridge.";
  // Bridge could not load the adapter, so the reason does not name a remedy.
  const isLoaded = (capabilities as object | null) !== null;
  if (isLoaded) return failed(check, `${status}: ${reason}`, faults[0] ?? reason);
  return failed(check, `offline: ${reason}`, `Correct BRIDGE_ADAPTERS, or install the package of ${provider}, and restart Bridge.`);
}

/** The step in which an adapter reports the sandbox of its processes. */
const SANDBOX_STEP = "sandbox";

function checkSandbox(adapters: readonly Adapter[]): Check[] {
  const steps = adapters.flatMap(({ health }) => health.preflight.filter(({ step }) => step === SANDBOX_STEP));
  const [step] = steps;
  if (step === undefined) return [];
  const fault = steps.find((one) => !one.ok);
  if (fault === undefined) return [ok("sandbox", step.detail)];
  return [
    failed(
      "sandbox",
      fault.detail,
      "Mend this on the host of Bridge, on Debian first with: apt-get install bubblewrap. Then restart Bridge. To run without a sandbox, set BRIDGE_SANDBOX=off",
    ),
  ];
}
