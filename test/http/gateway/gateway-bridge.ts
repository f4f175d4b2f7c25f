import type { LoadedAdapter } from "../../../src/registry/adapter-registry.ts";
import { createInMemoryAdapter } from "../../adapters/in-memory-adapter.ts";
import { createInMemoryManager, type InMemoryManager } from "../../adapters/in-memory-manager.ts";
import { type Answer, type Bridge, type Call, startBridge } from "../../support/start-bridge.ts";
import { askUntil } from "../../support/until.ts";

/**
 * A Bridge with the adapters `daemon`, which has all managers and which tests can change, `halfway`, which manages only skills, and
 * `fallen`, which is offline.
 */
export interface GatewayBridge extends Bridge {
  /** Called before each call of a manager. A test can wait or throw in it. */
  hook: { before(method: keyof InMemoryManager): Promise<void> | void };
  /** Sends a request below `/api/v2/gateway/`. */
  gateway(method: string, target: string, options?: Call): Promise<Answer>;
  /** The logged fields of all writes, without those of every log line. */
  audit(): Record<string, unknown>[];
}

/** Starts a Bridge whose managers store nothing yet. */
export async function startGatewayBridge(environment: Record<string, string> = {}): Promise<GatewayBridge> {
  const hook: GatewayBridge["hook"] = { before() {} };
  const manager = createInMemoryManager({ before: (method) => hook.before(method) });
  const capabilities = { management: true };
  const { listSkills, readSkill, writeSkill, deleteSkill, installSkillDependencies } = manager;
  const fallen = { ...createInMemoryAdapter({ provider: "fallen", capabilities }), ...manager };
  fallen.checkHealth = async () => ({ status: "offline", connection: null, version: null, detail: "It fell over.", preflight: [] });
  const adapters = [
    { ...createInMemoryAdapter({ provider: "daemon", capabilities }), ...manager },
    {
      ...createInMemoryAdapter({ provider: "halfway", capabilities }),
      ...{ listSkills, readSkill, writeSkill, deleteSkill, installSkillDependencies },
    },
    fallen,
  ];
  const loaded: LoadedAdapter[] = adapters.map((adapter) => ({ provider: adapter.provider, adapter }));
  const bridge = await startBridge(environment, { adapters: loaded });
  await askUntil(
    () => bridge.call("GET", "/api/v2/adapters"),
    ({ body }) => body.data.every(({ health }: { health: { checkedAt: string | null } }) => health.checkedAt !== null),
  );
  return {
    ...bridge,
    hook,
    gateway: (method, target, options) => bridge.call(method, `/api/v2/gateway/${target}`, options),
    audit: () =>
      bridge.log
        .map((line) => JSON.parse(line) as Record<string, unknown>)
        .filter(({ msg }) => String(msg).startsWith("gateway write"))
        .map(({ level: _, time: __, pid: ___, hostname: ____, ...rest }) => rest),
  };
}
