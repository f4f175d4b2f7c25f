import { isDeepStrictEqual } from "node:util";
import { GatewayError } from "../../../adapters/openclaw/gateway-error.ts";
import { createManagers, type Managers } from "../../../adapters/openclaw/manage/create-managers.ts";
import type { ManageContext } from "../../../adapters/openclaw/manage/manage-context.ts";
import recordings from "./recorded-management.json" with { type: "json" };

type Params = Record<string, unknown>;
interface Recording {
  method: string;
  params: Params;
  answer?: unknown;
  refusal?: ConstructorParameters<typeof GatewayError>[0];
}

/** Recorded responses of the real gateway. */
export const recorded: Record<keyof typeof recordings, Recording> = recordings;

/** Returns the recorded error of a call as the GatewayError that the connection rejects with. */
export const refusalOf = (name: keyof typeof recordings): GatewayError => {
  const { refusal } = recorded[name];
  if (refusal === undefined) throw new Error(`${name} is not a recorded error`);
  return new GatewayError(refusal);
};

/** Managers on a gateway that replays recorded responses, unless a test overrides them. */
export interface ManagersFixture {
  managers: Managers;
  /** All calls, in order. */
  calls: { method: string; params: Params }[];
  called(method: string): Params[];
}

/** Creates the fixture. `answers` override methods: each gets the params and returns the response or throws the gateway's error. */
export function createManagersFixture(
  answers: Record<string, (params: Params) => unknown> = {},
  given: Partial<ManageContext> & { without?: readonly string[] } = {},
): ManagersFixture {
  const { without = [], ...context } = given;
  const calls: ManagersFixture["calls"] = [];
  const gateway: ManageContext["gateway"] = {
    hello: { version: "2026.9.6", bootId: "1", methods: new Set(), scopes: [], policy: { maxPayload: 26_214_400, tickIntervalMs: 30_000 } },
    hasMethod: (name) => !without.includes(name),
    call: async (method, params = {}) => {
      const asked = params as Params;
      calls.push({ method, params: asked });
      const answer = answers[method];
      return structuredClone(answer === undefined ? replay(method, asked) : await answer(asked));
    },
  };
  const managers = createManagers(() => ({
    gateway,
    env: process.env,
    dataDir: "/nonexistent",
    sandbox: null,
    onOrphansKilled: () => {},
    stateDir: null,
    command: null,
    ...context,
  }));
  return { managers, calls, called: (method) => calls.filter((call) => call.method === method).map(({ params }) => params) };
}

/** Returns the recorded response to a call, or throws its recorded error. */
export function replay(method: string, params: Params): unknown {
  const ofMethod = Object.values(recorded).filter((recording) => recording.method === method);
  const found = ofMethod.find((recording) => isDeepStrictEqual(recording.params, params)) ?? ofMethod[0];
  if (found === undefined) throw new Error(`${method} was not recorded`);
  if (found.refusal !== undefined) throw new GatewayError(found.refusal);
  return found.answer;
}

interface SourceConfig {
  agents: { defaults?: Params; entries: Record<string, Params> };
  bindings?: Params[];
}

/** A gateway configuration that checks patches like the real one: the base hash must match, and arrays that get shorter must be listed. */
export function createConfig(sourceConfig: SourceConfig) {
  let revision = 1;
  const config = {
    source: sourceConfig,
    /** Simulates a write of another client. */
    touch() {
      revision += 1;
    },
    answers: {
      "config.get": () => ({ valid: true, issues: [], hash: `h${revision}`, sourceConfig: config.source }),
      "config.patch": ({ raw, baseHash, replacePaths }: Params) => {
        if (baseHash !== `h${revision}`) throw refusalOf("staleConfig");
        config.source = merge(config.source, JSON.parse(String(raw)), replacePaths as string[], "") as SourceConfig;
        revision += 1;
        return { ok: true };
      },
      "agents.list": () => ({
        defaultId: "main",
        agents: Object.keys(config.source.agents.entries).map((id) => ({ id, workspace: `/srv/${id}` })),
      }),
    },
  };
  return config;
}

function merge(current: unknown, change: unknown, replaced: readonly string[], path: string): unknown {
  if (Array.isArray(current)) {
    if ((!Array.isArray(change) || change.length < current.length) && !replaced.includes(path))
      throw new GatewayError({ code: "INVALID_REQUEST", message: `config.patch would remove entries from array path(s): ${path}.` });
    return change ?? undefined;
  }
  if (change === null && isObject(current)) {
    for (const [name, value] of Object.entries(current)) merge(value, null, replaced, `${path}.${name}`);
  }
  if (!isObject(change)) return change ?? undefined;
  const base: Params = isObject(current) ? { ...current } : {};
  for (const [name, value] of Object.entries(change)) {
    const merged = merge(base[name], value, replaced, path === "" ? name : `${path}.${name}`);
    if (merged === undefined) delete base[name];
    else base[name] = merged;
  }
  return base;
}

const isObject = (value: unknown): value is Params => typeof value === "object" && value !== null && !Array.isArray(value);
