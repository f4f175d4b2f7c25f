import type { IForbiddenRuleType } from "dependency-cruiser";

const vocabulary = ["^src/contract/", "^src/task\\.ts$", "^src/errors\\.ts$"];
const sharedPackages = "^packages/(async-kit|nofollow-fs)/";
const catalog = "^adapters/index\\.ts$";
const config = "^src/config/";
const subjectTypes = "^src/store/.*/interface\\.ts$";
/** What every subject of the store may import: the types and the rows of all subjects, and what knows no subject. */
const storeBasis = [
  "store/column-text.ts",
  "store/page.ts",
  "store/writes.ts",
  "store/engines",
  subjectTypes,
  "^src/store/.*rows\\.ts$",
  "store/tasks/gapped-json.ts",
];

/**
 * What each room of the source may import besides itself, the shared packages and the vocabulary, from the bottom to the top. A name is a
 * directory or a file in `src/`. A new kind of import needs a decision record.
 */
export const rooms: Readonly<Record<string, readonly string[]>> = {
  "metrics.ts": [],
  "nearest-name.ts": [],
  pricing: [],
  "trace-context.ts": [],
  timers: [],
  config: ["nearest-name.ts"],
  "store/column-text.ts": [],
  "store/page.ts": [],
  "store/writes.ts": [],
  "store/engines/sqlite": ["store/writes.ts"],
  "store/engines/postgres": ["store/writes.ts", subjectTypes],
  "store/events": storeBasis,
  "store/usage": storeBasis,
  "store/approvals": [...storeBasis, "store/events"],
  "store/posts": [...storeBasis, "store/events"],
  "store/budgets": [...storeBasis, "store/events"],
  "store/attention": storeBasis,
  "store/access": storeBasis,
  "store/tasks": [...storeBasis, "store/events", "store/usage", "store/approvals", "store/budgets", "store/posts"],
  "store/traces": [...storeBasis, "store/events", "store/tasks"],
  "store/nodes": [...storeBasis, "store/tasks"],
  "store/maintenance": [...storeBasis, "store/events", "store/usage", "store/budgets", "store/posts", "store/access", "store/tasks"],
  store: [],
  network: [],
  requests: ["nearest-name.ts"],
  "reloaded-file.ts": ["requests"],
  workspaces: ["store", "requests"],
  cluster: ["store", "metrics.ts", "timers"],
  registry: ["metrics.ts", "cluster"],
  access: ["store", "requests", "config", "reloaded-file.ts"],
  events: ["store", "metrics.ts"],
  approvals: ["store", "metrics.ts", "trace-context.ts", "events"],
  budgets: ["store", "metrics.ts", "timers", "reloaded-file.ts"],
  posts: ["store", "metrics.ts", "timers", "network"],
  callbacks: ["store", "metrics.ts", "trace-context.ts", "posts"],
  webhooks: ["store", "metrics.ts", "config", "network", "reloaded-file.ts", "events", "posts"],
  attention: ["store", "metrics.ts", "registry", "events", "callbacks", "webhooks"],
  traces: ["store", "metrics.ts", "trace-context.ts", "config", "events"],
  results: ["store", "requests", "events", "callbacks"],
  "dispatch/scheduler": ["store", "registry"],
  "dispatch/admission": [
    "store",
    "metrics.ts",
    "nearest-name.ts",
    "network",
    "requests",
    "workspaces",
    "cluster",
    "registry",
    "results",
    "dispatch/scheduler",
  ],
  "dispatch/run": [
    "store",
    "metrics.ts",
    "trace-context.ts",
    "timers",
    "requests",
    "workspaces",
    "registry",
    "events",
    "approvals",
    "results",
    "dispatch/scheduler",
    "dispatch/admission",
  ],
  "dispatch/end": [
    "store",
    "metrics.ts",
    "trace-context.ts",
    "registry",
    "events",
    "approvals",
    "results",
    "dispatch/scheduler",
    "dispatch/run",
  ],
  "dispatch/sharing": [
    "store",
    "workspaces",
    "cluster",
    "registry",
    "events",
    "results",
    "dispatch/scheduler",
    "dispatch/admission",
    "dispatch/end",
  ],
  "dispatch/dispatcher.ts": [
    "store",
    "metrics.ts",
    "network",
    "requests",
    "workspaces",
    "cluster",
    "registry",
    "events",
    "approvals",
    "results",
    "dispatch",
  ],
  "dispatch/preview-dispatch.ts": ["requests", "workspaces", "registry", "dispatch"],
  "dispatch/receive-dispatch.ts": ["metrics.ts", "requests", "registry", "dispatch"],
  queries: ["store", "events", "dispatch"],
  "http/wire": ["events"],
  "http/openapi": ["requests", "http/wire"],
  "http/console": ["http/wire"],
  "http/forwarding": ["store"],
  "http/server": ["config", "requests", "access", "http/wire", "http/openapi"],
  "http/streams": ["metrics.ts", "timers", "requests", "access", "events", "http/wire"],
  "http/routes": [
    "metrics.ts",
    "requests",
    "workspaces",
    "cluster",
    "registry",
    "access",
    "approvals",
    "callbacks",
    "webhooks",
    "attention",
    "dispatch",
    "queries",
    "http/wire",
  ],
  "http/gateway": ["requests", "registry", "access", "dispatch", "http/wire"],
  websocket: [
    "metrics.ts",
    "timers",
    "requests",
    "workspaces",
    "access",
    "events",
    "approvals",
    "callbacks",
    "dispatch",
    "queries",
    "http/wire",
  ],
  app: ["(?!(main\\.ts|start\\.js|bridge-server\\.js)$)", catalog],
  "main.ts": ["app", "config"],
  "check-node.js": [],
  "start.js": ["check-node.js", "main.ts"],
  cli: ["config", "store", "access", "app", "^packages/bridge-cli/"],
  "bridge-server.js": ["check-node.js", "start.js", "^packages/bridge-cli/"],
};

const repository = "^(src|adapters|packages|scripts|bench|examples|test)/";
const production = "^(src|adapters|packages/[^/]+/src)/";
const consoleSource = "^packages/console/src/";
const tests = ["^test/", "^packages/[^/]+/test/"];

/** The layers of the code as rules: imports point down, adapters see only the contract and shared parts, `app/` alone sees everything. */
export const layers: IForbiddenRuleType[] = [
  {
    name: "vocabulary",
    comment: "The contract, task.ts and errors.ts import nothing above them.",
    severity: "error",
    from: { path: vocabulary },
    to: { path: repository, pathNot: vocabulary },
  },
  ...Object.entries(rooms).map(([room, allowed]) => toRule(room, allowed)),
  {
    name: "every-file-has-a-room",
    comment: "A new file or directory in src/ belongs to a room: name it in scripts/layers.ts.",
    severity: "error",
    from: { path: "^src/", pathNot: [...vocabulary, ...Object.keys(rooms).map(toPath)] },
    to: {},
  },
  {
    name: "types-of-config-only",
    comment: "Rooms get their settings from app/; they may import the types.",
    severity: "error",
    from: { path: "^src/(access|http)/" },
    to: { path: config, dependencyTypesNot: ["type-only"] },
  },
  {
    name: "vocabulary-imports-only-zod",
    comment: "The vocabulary does no I/O and brings no dependency into an adapter.",
    severity: "error",
    from: { path: vocabulary },
    to: { dependencyTypes: ["npm", "npm-dev", "npm-optional", "npm-peer", "npm-no-pkg", "core"], pathNot: "(^|/)node_modules/zod/" },
  },
  {
    name: "adapters-see-contract-and-shared-parts",
    comment: "An adapter sees #contract, packages and adapters/shared/; never another adapter, never src/.",
    severity: "error",
    from: { path: "^adapters/([^/]+)/" },
    to: { path: repository, pathNot: ["^adapters/$1/", "^adapters/shared/", "^src/contract/", "^packages/"] },
  },
  {
    name: "adapters-name-the-contract",
    comment: "The contract is imported as #contract, so that an adapter can move out of this repository.",
    severity: "error",
    from: { path: "^adapters/" },
    to: { path: "^src/contract/", dependencyTypesNot: ["aliased-subpath-import"] },
  },
  {
    name: "catalog-sees-only-adapters",
    comment: "adapters/index.ts is a list, nothing more.",
    severity: "error",
    from: { path: catalog },
    to: { path: repository, pathNot: ["^adapters/", "^src/contract/"] },
  },
  {
    name: "only-app-sees-the-catalog",
    comment: "Composition happens in one place.",
    severity: "error",
    from: { path: repository, pathNot: ["^src/app/", ...tests] },
    to: { path: catalog },
  },
  {
    name: "source-knows-no-adapter",
    comment: "Adapters are found through the catalog and their abilities by guards, never by name.",
    severity: "error",
    from: { path: "^src/" },
    to: { path: "^adapters/", pathNot: catalog },
  },
  {
    name: "packages-stand-alone",
    comment: "A package must be publishable as it is.",
    severity: "error",
    from: { path: "^packages/", pathNot: tests },
    to: { path: repository, pathNot: "^packages/" },
  },
  {
    name: "console-uses-the-client",
    comment: "The console runs in a browser: it uses the API as every client does.",
    severity: "error",
    from: { path: consoleSource },
    to: { path: repository, pathNot: [consoleSource, "^packages/bridge-client/"] },
  },
  {
    name: "only-tests-import-the-console",
    comment: "Bridge serves the built console and imports none of its source.",
    severity: "error",
    from: { path: repository, pathNot: [consoleSource, ...tests] },
    to: { path: consoleSource },
  },
  {
    name: "packages-by-package-name",
    comment: "Import a package through its public entry, as its users do.",
    severity: "error",
    from: { path: "^packages/([^/]+)/", pathNot: tests },
    to: {
      path: "^packages/",
      pathNot: "^packages/$1/",
      dependencyTypes: ["local", "localmodule"],
      dependencyTypesNot: ["aliased-workspace"],
    },
  },
  {
    name: "others-by-package-name",
    comment: "Import a package through its public entry, as its users do.",
    severity: "error",
    from: { path: "^(src|adapters|scripts|bench|examples)/" },
    to: { path: "^packages/", dependencyTypes: ["local", "localmodule"], dependencyTypesNot: ["aliased-workspace"] },
  },
  {
    name: "production-sees-no-test",
    comment: "Tests see everything; nothing that ships sees tests, scripts/, bench/ or examples/.",
    severity: "error",
    from: { path: production },
    to: { path: ["^(scripts|bench|examples)/", ...tests] },
  },
  {
    name: "production-uses-no-development-tool",
    comment: "What ships must find its packages in a production install.",
    severity: "error",
    from: { path: production, pathNot: consoleSource },
    to: { dependencyTypes: ["npm-dev", "npm-no-pkg", "npm-unknown"], dependencyTypesNot: ["type-only"] },
  },
  {
    name: "no-cycles",
    comment: "Files that import each other cannot be read in order.",
    severity: "error",
    from: {},
    to: { circular: true },
  },
  {
    name: "no-unresolved",
    comment: "An import that cannot be followed cannot be checked.",
    severity: "error",
    from: {},
    to: { couldNotResolve: true },
  },
];

function toRule(room: string, allowed: readonly string[]): IForbiddenRuleType {
  const own = toPath(room);
  return {
    name: `room ${room}`,
    comment: "Imports point down.",
    severity: "error",
    from: { path: own },
    to: { path: repository, pathNot: [own, sharedPackages, ...vocabulary, ...allowed.map(toPath)] },
  };
}

/** Converts the name of a room to a pattern of paths. A pattern is returned unchanged. */
function toPath(room: string): string {
  if (room.startsWith("^")) return room;
  if (room.startsWith("(")) return `^src/${room}`;
  return /\.[jt]s$/.test(room) ? `^src/${room.replace(".", "\\.")}$` : `^src/${room}/`;
}
