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

/** What the real gateway answered, once. */
export const recorded: Record<keyof typeof recordings, Recording> = recordings;

/** The refusal of a recording, as the connection rejects with it. */
export const refusalOf = (name: keyof typeof recordings): GatewayError => {
  const { refusal } = recorded[name];
  if (refusal === undefined) throw new Error(`${name} is no recorded refusal`);
  return new GatewayError(refusal);
};

/** Managers on a gateway that answers as it was recorded, but for what a test says. */
export interface ManagersFixture {
  managers: Managers;
  /** What was asked, in order. */
  calls: { method: string; params: Params }[];
  called(method: string): Params[];
}

/** `answers` take the params of a method; what they throw is how the gateway refuses. */
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

/** What the real gateway answered to this, once. */
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

/** The configuration of a gateway, as strict with its patches as the real one: the base hash must be right, and what shrinks must be named. */
export function createConfig(sourceConfig: SourceConfig) {
  let revision = 1;
  const config = {
    source: sourceConfig,
    /** Somebody else writes. */
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
