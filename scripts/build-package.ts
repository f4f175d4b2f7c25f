import path from "node:path";
import { parseArgs } from "node:util";
import { ensureBuilt } from "bridge-console";
import server from "../package.json" with { type: "json" };
import { writePackage } from "./write-package.ts";
import { readWorkspaceManifest, writeWorkspace } from "./write-workspace.ts";

/** The workspaces that the server imports, directly or through another one. The package contains them. */
const bundled = ["async-kit", "nofollow-fs", "responder-bridge", "responder-bridge-openai", "council", "bridge-client", "bridge-cli"];

if (!ensureBuilt()) process.exit(1);
const { positionals } = parseArgs({ allowPositionals: true });
const directory = path.resolve(positionals[0] ?? path.join(import.meta.dirname, "../dist"));
const manifests = bundled.map(readWorkspaceManifest);
const versions = Object.fromEntries(manifests.map(({ name, version }) => [name, version]));
const { name, version, description, license, type, engines, dependencies, devDependencies, peerDependencies, peerDependenciesMeta } =
  server;

// The server with its console and its command line, and what authors of adapters import: the contract and the conformance kit.
await writePackage(directory, {
  projects: ["tsconfig.server.json", "tsconfig.build.json"],
  directories: ["migrations", "packages/console/dist", "examples/agents"],
  files: {
    LICENSE: "LICENSE",
    "CHANGELOG.md": "CHANGELOG.md",
    "README.md": "docs/install.md",
    "adapters.md": "docs/adapters.md",
    ".env.example": ".env.example",
  },
  manifest: {
    name,
    version,
    description,
    license,
    type,
    engines,
    bin: { "bridge-server": "src/bridge-server.js", bridge: "node_modules/bridge-cli/bridge.js", brg: "node_modules/bridge-cli/bridge.js" },
    imports: { "#contract": "./src/contract/index.js" },
    exports: {
      "./contract": "./src/contract/index.js",
      "./conformance": "./test/conformance/adapter.js",
      "./bridge-protocol": "./src/websocket/bridge-protocol.js",
      "./local-verbs": "./src/cli/local-verbs.js",
    },
    // Includes those of the bundled packages.
    dependencies: Object.assign({}, ...manifests.map((manifest) => manifest.dependencies), dependencies, versions),
    bundleDependencies: Object.keys(versions),
    peerDependencies: { ...peerDependencies, vitest: `^${devDependencies.vitest}` },
    peerDependenciesMeta: { ...peerDependenciesMeta, vitest: { optional: true } },
  },
});
for (const [index, workspace] of bundled.entries()) {
  const target = path.join(directory, "node_modules", manifests[index]?.name ?? "");
  await writeWorkspace(workspace, target, { isBundled: true });
}
console.log(`The package is in ${path.relative(process.cwd(), directory) || "."}.`);
