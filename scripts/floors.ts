import type { IForbiddenRuleType } from "dependency-cruiser";

const words = ["^src/contract/", "^src/task\\.ts$", "^src/errors\\.ts$"];
const metrics = "^src/metrics\\.ts$";
const kits = "^packages/(async-kit|nofollow-fs)/";
const version = "^src/version\\.ts$";
const config = "^src/(config|settings)\\.ts$";
const store = "^src/store/";
const engine = "^src/(dispatch|events|callbacks|approvals)/";
const doors = "^src/(http|websocket)/";
const app = "^src/app\\.ts$";
const top = ["^src/main\\.ts$", "^src/cli/"];
const catalogue = "^adapters/index\\.ts$";

const ours = "^(src|adapters|packages|scripts|bench|examples|test)/";
const production = "^(src|adapters|packages)/";

/** The floors of the house as rules: imports point down, wings touch only the ground, `app.ts` alone sees everything. */
export const floors: IForbiddenRuleType[] = [
  floor("words-see-only-words", words, words),
  floor("metrics-see-nothing-of-ours", [metrics], [metrics]),
  floor("version-sees-nothing-of-ours", [version], [version]),
  floor("config-sees-only-words", [config], [config, ...words]),
  floor("store-sees-only-words", [store], [store, kits, ...words]),
  floor("engine-sees-store-and-words", [engine], [engine, store, metrics, kits, ...words]),
  floor("doors-see-engine-and-words", [doors], [doors, engine, metrics, config, kits, ...words]),
  floor("app-sees-source-and-catalogue", [app], ["^src/(?!main\\.ts$|cli/)", catalogue, kits, ...words]),
  floor("top-sees-app-config-and-migrate", top, [...top, app, config, version, "^src/store/migrate\\.ts$", kits, ...words]),
  {
    name: "every-source-has-a-floor",
    comment: "A new file or directory in src/ belongs to a floor: name it in scripts/floors.ts.",
    severity: "error",
    from: { path: "^src/", pathNot: [...words, metrics, version, config, store, engine, doors, app, ...top] },
    to: {},
  },
  {
    name: "doors-see-types-of-config-only",
    comment: "The doors are handed their settings by app.ts; they may know what settings look like.",
    severity: "error",
    from: { path: doors },
    to: { path: config, dependencyTypesNot: ["type-only"] },
  },
  {
    name: "words-know-only-zod",
    comment: "The ground does no I/O and drags nothing along into an adapter.",
    severity: "error",
    from: { path: words },
    to: { dependencyTypes: ["npm", "npm-dev", "npm-optional", "npm-peer", "npm-no-pkg", "core"], pathNot: "(^|/)node_modules/zod/" },
  },
  {
    name: "adapters-see-contract-and-shared-parts",
    comment:
      "An adapter sees #contract and the shared parts adapters/process, adapters/program, adapters/declared-tools, adapters/acp, adapters/model and adapters/claude-code; never another adapter, never src/.",
    severity: "error",
    from: { path: "^adapters/([^/]+)/" },
    to: {
      path: ours,
      pathNot: ["^adapters/$1/", "^adapters/(process|program|declared-tools|acp|model|claude-code)/", "^src/contract/", "^packages/"],
    },
  },
  {
    name: "adapters-name-the-contract",
    comment: "The contract is imported as #contract, so that an adapter can move out of this repository.",
    severity: "error",
    from: { path: "^adapters/" },
    to: { path: "^src/contract/", dependencyTypesNot: ["aliased-subpath-import"] },
  },
  {
    name: "catalogue-sees-only-adapters",
    comment: "adapters/index.ts is a list, nothing more.",
    severity: "error",
    from: { path: catalogue },
    to: { path: ours, pathNot: ["^adapters/", "^src/contract/"] },
  },
  {
    name: "only-app-sees-the-catalogue",
    comment: "Composition happens in one place.",
    severity: "error",
    from: { path: ours, pathNot: ["^src/app\\.ts$", "^test/"] },
    to: { path: catalogue },
  },
  {
    name: "source-knows-no-adapter",
    comment: "Adapters are found through the catalogue and their abilities by guards, never by name.",
    severity: "error",
    from: { path: "^src/" },
    to: { path: "^adapters/", pathNot: catalogue },
  },
  {
    name: "packages-stand-alone",
    comment: "A package must be publishable as it is.",
    severity: "error",
    from: { path: "^packages/" },
    to: { path: ours, pathNot: "^packages/" },
  },
  {
    name: "packages-by-package-name",
    comment: "Reach a package through its public entry, as everybody else does.",
    severity: "error",
    from: { path: "^packages/([^/]+)/" },
    to: {
      path: "^packages/",
      pathNot: "^packages/$1/",
      dependencyTypes: ["local", "localmodule"],
      dependencyTypesNot: ["aliased-workspace"],
    },
  },
  {
    name: "wings-by-package-name",
    comment: "Reach a package through its public entry, as everybody else does.",
    severity: "error",
    from: { path: "^(src|adapters|scripts|bench|examples)/" },
    to: { path: "^packages/", dependencyTypes: ["local", "localmodule"], dependencyTypesNot: ["aliased-workspace"] },
  },
  {
    name: "production-sees-no-test",
    comment: "test/ sees all; nothing that ships sees test/, nor scripts, benches and examples.",
    severity: "error",
    from: { path: production },
    to: { path: "^(test|scripts|bench|examples)/" },
  },
  {
    name: "production-uses-no-development-tool",
    comment: "What ships must find its packages in a production install.",
    severity: "error",
    from: { path: production },
    to: { dependencyTypes: ["npm-dev", "npm-no-pkg", "npm-unknown"], dependencyTypesNot: ["type-only"] },
  },
  { name: "no-cycles", comment: "A circle has no floor.", severity: "error", from: {}, to: { circular: true } },
  {
    name: "no-unresolved",
    comment: "An import that cannot be followed cannot be checked.",
    severity: "error",
    from: {},
    to: { couldNotResolve: true },
  },
];

function floor(name: string, from: string[], allowed: string[]): IForbiddenRuleType {
  return { name, comment: "Imports point down.", severity: "error", from: { path: from }, to: { path: ours, pathNot: allowed } };
}
