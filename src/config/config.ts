import { readFileSync } from "node:fs";
import { isIP } from "node:net";
import path from "node:path";
import { z } from "zod";
import { type Catalog, findEntry, findFamily, settingsKey } from "#contract";
import { ConfigError } from "../errors.ts";
import { findNearestName } from "../nearest-name.ts";
import type { TenantQuota } from "../task.ts";
import { isSetting, listSecrets, listSettings } from "./list-settings.ts";
import { type SettingGroup, serverSettings } from "./settings.ts";
import { findTraceFaults, readTraceSettings, type TraceSettings } from "./trace-settings.ts";

/** The SQLite file in the data directory. */
const DEFAULT_DATABASE = "bridge.db";

/** The values of settings by their names. */
type Values<Group> = {
  [Name in keyof Group]: Group[Name] extends { variable: string; schema: infer Schema extends z.ZodType }
    ? z.output<Schema>
    : Values<Group[Name]>;
};
type ServerValues = Values<typeof serverSettings>;

/** The complete and valid configuration of Bridge: the values of all settings, and what follows from them. All paths are absolute. */
export interface Config extends Omit<ServerValues, "filesDir" | "workspacesDir" | "maxConcurrent" | "quota" | "traces" | "provider"> {
  /** The SQLite file, unless `databaseUrl` is set. */
  databaseFile: string;
  /** The URL of a PostgreSQL database. It can contain a password. */
  databaseUrl: string | null;
  /** The directory for what follows an agent: its workspace, its home and its sessions. */
  filesDir: string;
  workspacesDir: string;
  maxConcurrent: (provider: string) => number;
  /** The default quota of a tenant. The tokens file can override each field. */
  quota: TenantQuota;
  /** The files from which secrets were read. */
  secretFiles: readonly string[];
  /** Null without traces. */
  traces: TraceSettings | null;
  /** Values of the adapters' settings: by provider, or by `<prefix>:` for a family of adapters. */
  adapterSettings: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads the configuration from environment variables. Throws a ConfigError that lists every fault; returns warnings, for example about
 * unknown `BRIDGE_*` names. `explainMissing` returns null for an adapter that exists. Bridge starts if one of several adapters exists.
 */
export function readConfig(
  environment: Environment,
  catalog: Catalog,
  explainMissing: (adapter: string) => string | null = () => null,
): { config: Config; warnings: string[] } {
  const settings = listSettings(catalog);
  const secrets = listSecrets(settings);
  const faults: string[] = [];
  const present = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== undefined && value !== ""));
  const env = { ...present, ...readSecretFiles(present, secrets, faults) };
  const parsed = z.object(settings).safeParse(env);
  if (!parsed.success) faults.push(...new Set(parsed.error.issues.map((issue) => `${issue.path[0]?.toString()}: ${issue.message}`)));
  const adapterSettings = parsed.success ? groupByAdapter(parsed.data, catalog) : {};

  const alias = env["GATEWAY_PROVIDER"];
  const adapters =
    alias === undefined
      ? (env["BRIDGE_ADAPTERS"] ?? "command")
          .split(",")
          .map((name) => name.trim())
          .filter(Boolean)
      : [alias.trim()];
  if (alias !== undefined && env["BRIDGE_ADAPTERS"] !== undefined && env["BRIDGE_ADAPTERS"].trim() !== alias.trim()) {
    faults.push("GATEWAY_PROVIDER: differs from BRIDGE_ADAPTERS; set one of them");
  }
  if (adapters.length === 0) faults.push("BRIDGE_ADAPTERS: must name at least one adapter");
  const spaceSeparated = adapters.find((name) => /^[a-z:-]+(\s+[a-z:-]+)+$/.test(name));
  if (spaceSeparated !== undefined) faults.push(`BRIDGE_ADAPTERS: separate adapters by commas: ${spaceSeparated.split(/\s+/).join(",")}`);
  const missing = spaceSeparated === undefined ? [...new Set(adapters)].map(explainMissing) : [];
  if (!missing.includes(null)) faults.push(...missing.map((reason) => `BRIDGE_ADAPTERS: ${reason}`));
  for (const name of new Set(adapters.filter((adapter, index) => adapters.indexOf(adapter) !== index))) {
    faults.push(`BRIDGE_ADAPTERS: names ${name} twice`);
  }
  if (parsed.success) faults.push(...adapters.flatMap((name) => findMissingDescription(name, catalog, adapterSettings)));
  const values = parsed.success ? toValues(serverSettings, parsed.data) : null;
  if (values !== null) faults.push(...findUselessLimits(values), ...findTraceFaults(values.traces, env));
  if (env["BRIDGE_WEBHOOKS_FILE"] !== undefined && env["BRIDGE_PUBLIC_URL"] === undefined)
    faults.push("BRIDGE_PUBLIC_URL: must be set with BRIDGE_WEBHOOKS_FILE, because webhooks contain links to the console");
  const hasTokens = /[^,\s]/.test(env["BRIDGE_GATEWAY_TOKEN_HASH"] ?? "") || env["BRIDGE_TOKENS_FILE"] !== undefined;
  const hasHostFault = faults.some((fault) => fault.startsWith("BRIDGE_HOST:"));
  if (!hasTokens && !hasHostFault && !isLoopback(env["BRIDGE_HOST"] ?? "localhost")) {
    faults.push("BRIDGE_HOST: any address other than loopback requires a token; set BRIDGE_GATEWAY_TOKEN_HASH or BRIDGE_TOKENS_FILE");
  }
  if (parsed.success && usesPostgres(env["BRIDGE_DATABASE_URL"])) faults.push(...findUnsafeSharing(env, { hasTokens, adapters, catalog }));
  if (values === null || faults.length > 0) throw new ConfigError(faults);

  const dataDir = path.resolve(values.dataDir);
  const filesDir = path.resolve(values.filesDir ?? dataDir);
  const resolve = (file: string | null): string | null => (file === null ? null : path.resolve(file));
  const { fallback, limits } = values.maxConcurrent;
  const { provider: _alias, ...others } = values;
  const config: Config = {
    ...others,
    dataDir,
    ...toDatabase(values.databaseUrl, path.join(dataDir, DEFAULT_DATABASE)),
    filesDir,
    workspacesDir: path.resolve(values.workspacesDir ?? path.join(filesDir, "workspaces")),
    adapters,
    maxConcurrent: (provider) => limits.get(provider) ?? fallback,
    quota: { weight: 1, ...values.quota },
    tokensFile: resolve(values.tokensFile),
    webhooksFile: resolve(values.webhooksFile),
    budgetsFile: resolve(values.budgetsFile),
    repositoriesFile: resolve(values.repositoriesFile),
    secretFiles: secrets.flatMap((name) => present[`${name}_FILE`] ?? []).map((file) => path.resolve(file)),
    traces: readTraceSettings(values.traces),
    adapterSettings,
  };
  return {
    config,
    warnings: [...listUnknownSettings(environment, catalog), ...listUnusedLimits(limits, adapters, catalog)],
  };
}

/** Reads where the database is, which is all that commands on the database need. Throws a ConfigError. */
export function readDatabase(environment: Environment): Pick<Config, "databaseFile" | "databaseUrl"> {
  const { variable: name, schema } = serverSettings.databaseUrl;
  const present = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== undefined && value !== ""));
  const faults: string[] = [];
  const url = { ...present, ...readSecretFiles(present, [name], faults) }[name];
  const parsed = schema.safeParse(url);
  if (!parsed.success) faults.push(...parsed.error.issues.map(({ message }) => `${name}: ${message}`));
  if (faults.length > 0) throw new ConfigError(faults);
  const dataDir = path.resolve(serverSettings.dataDir.schema.parse(present["BRIDGE_DATA_DIR"]));
  return toDatabase(parsed.data ?? null, path.join(dataDir, DEFAULT_DATABASE));
}

/** Gives the values of the variables their names in `Config`. */
function toValues<Group extends SettingGroup>(group: Group, values: Readonly<Record<string, unknown>>): Values<Group> {
  const entries = Object.entries(group).map(([name, entry]) => [name, isSetting(entry) ? values[entry.variable] : toValues(entry, values)]);
  return Object.fromEntries(entries) as Values<Group>;
}

/** Groups the values of the settings by adapter, under the names that the adapter declares. */
function groupByAdapter(values: Readonly<Record<string, unknown>>, catalog: Catalog): Config["adapterSettings"] {
  const group = ({ settings }: Catalog[number]) =>
    Object.fromEntries(Object.entries(settings).map(([name, { variable }]) => [name, values[variable]]));
  return Object.fromEntries(catalog.map((entry) => [settingsKey(entry), group(entry)]));
}

/** Returns the fault of an adapter such as `acp:goose` that no setting describes; otherwise an empty list. */
function findMissingDescription(adapter: string, catalog: Catalog, settings: Config["adapterSettings"]): string[] {
  const found = findFamily(catalog, adapter);
  if (found === null) return [];
  const described = found.family.find(found.member, settings[settingsKey(found.family)] ?? {});
  return "missing" in described ? [`BRIDGE_ADAPTERS: ${described.missing}`] : [];
}

/**
 * Lists limits of adapters that are not enabled. Lists none if an adapter comes from a path or a package, whose provider is not known
 * yet.
 */
function listUnusedLimits(limits: ReadonlyMap<string, number>, adapters: readonly string[], catalog: Catalog): string[] {
  if (adapters.some((name) => /[./@]/.test(name))) return [];
  const providerOf = (name: string) => findFamily(catalog, name)?.member ?? name;
  const loaded = adapters.map(providerOf);
  return [...limits.keys()]
    .filter((name) => !loaded.includes(providerOf(name)))
    .map((name) => `BRIDGE_MAX_CONCURRENT limits ${name}, which is not one of BRIDGE_ADAPTERS (${adapters.join(", ")})`);
}

/** Without other nodes, nothing would run the tasks of an adapter whose limit is 0, or post the callbacks. */
function findUselessLimits({ databaseUrl, delivers, migrate, maxConcurrent: { fallback, limits } }: ServerValues): string[] {
  if (usesPostgres(databaseUrl)) return [];
  const hasIdle = [fallback, ...limits.values()].includes(0);
  return [
    hasIdle && "BRIDGE_MAX_CONCURRENT: a limit of 0 needs PostgreSQL (BRIDGE_DATABASE_URL), where other nodes run the tasks",
    !delivers && "BRIDGE_DELIVER: false needs PostgreSQL (BRIDGE_DATABASE_URL), where other nodes post the callbacks",
    migrate === "off" && "BRIDGE_MIGRATE: off needs PostgreSQL (BRIDGE_DATABASE_URL); a SQLite database is upgraded at each start",
  ].filter((fault) => fault !== false);
}

const usesPostgres = (url: string | null | undefined): url is string => typeof url === "string" && !url.startsWith("sqlite:");

/** Nodes share one database: a token has to be valid on all of them, and each of them can read the data of all tenants. */
function findUnsafeSharing(
  env: Environment,
  { hasTokens, adapters, catalog }: { hasTokens: boolean; adapters: readonly string[]; catalog: Catalog },
): string[] {
  const programs = adapters.filter((name) => runsPrograms(name, catalog));
  return [
    env["BRIDGE_FILES"] === "shared" &&
      env["BRIDGE_FILES_DIR"] === undefined &&
      "BRIDGE_FILES_DIR: must be set with BRIDGE_FILES=shared, to the directory that all nodes mount at the same path",
    env["BRIDGE_FILES"] === "shared" &&
      env["BRIDGE_WORKSPACES_DIR"] !== undefined &&
      "BRIDGE_WORKSPACES_DIR: cannot be set with BRIDGE_FILES=shared, where workspaces are in BRIDGE_FILES_DIR",
    !hasTokens &&
      "BRIDGE_GATEWAY_TOKEN_HASH: PostgreSQL requires a token, because each node would generate another one; set BRIDGE_GATEWAY_TOKEN_HASH or BRIDGE_TOKENS_FILE. To generate a token and its hash: openssl rand -hex 32 | tee token | tr -d '\\n' | sha256sum",
    env["BRIDGE_SANDBOX"] === undefined &&
      programs.length > 0 &&
      `BRIDGE_SANDBOX: must be set with PostgreSQL and ${programs.join(", ")}, because a program that runs as Bridge's user without a sandbox can read the password of the database, and so the data of all tenants; set required, auto or off`,
  ].filter((fault) => fault !== false);
}

/** Adapters from outside the catalog can run programs, and those of a family do. */
function runsPrograms(adapter: string, catalog: Catalog): boolean {
  const entry = findEntry(catalog, adapter);
  return entry === undefined || entry.runsPrograms === true;
}

/** Bridge generates a token itself only if it listens on a loopback address. */
const isLoopback = (host: string): boolean =>
  host === "localhost" || host === "::1" || host === "[::1]" || (isIP(host) === 4 && host.startsWith("127."));

function readSecretFiles(env: Record<string, string | undefined>, secrets: readonly string[], faults: string[]): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of secrets) {
    const file = env[`${name}_FILE`];
    if (file === undefined) continue;
    if (env[name] !== undefined) faults.push(`${name}_FILE: ${name} is set too; set one of them`);
    try {
      found[name] = readFileSync(file, "utf8")
        .trim()
        .replaceAll(/\s*\n\s*/g, ",");
    } catch {
      faults.push(`${name}_FILE: the file cannot be read`);
    }
  }
  return found;
}

function toDatabase(url: string | null, defaultFile: string): Pick<Config, "databaseFile" | "databaseUrl"> {
  const file = url?.startsWith("sqlite:") ? url.slice("sqlite:".length) : defaultFile;
  return { databaseFile: path.resolve(file), databaseUrl: usesPostgres(url) ? url : null };
}

/** Returns a warning for each `BRIDGE_…` variable that is no setting, with the setting that was probably meant. */
export function listUnknownSettings(environment: Environment, catalog: Catalog): string[] {
  const settings = listSettings(catalog);
  const known = [...Object.keys(settings), ...listSecrets(settings).map((name) => `${name}_FILE`)];
  return Object.entries(environment)
    .filter(([name, value]) => name.startsWith("BRIDGE_") && value !== undefined && value !== "" && !known.includes(name))
    .map(([name]) => {
      const nearest = findNearestName(name, known);
      return `${name} is not a setting of Bridge and is ignored${nearest === null ? "" : `; did you mean ${nearest}?`}`;
    });
}
