import path from "node:path";
import { parseArgs } from "node:util";
import server from "../package.json" with { type: "json" };
import { writePackage } from "./write-package.ts";

const { positionals } = parseArgs({ allowPositionals: true });
const { name, version, description, license, type, engines, dependencies, devDependencies } = server;

// The package for adapter authors: the contract and the conformance kit, with only the dependencies that they need.
await writePackage(path.resolve(positionals[0] ?? path.join(import.meta.dirname, "../dist")), {
  project: "tsconfig.build.json",
  files: { LICENSE: "LICENSE", "CHANGELOG.md": "CHANGELOG.md", "README.md": "docs/adapters.md" },
  manifest: {
    name,
    version,
    description,
    license,
    type,
    engines,
    imports: { "#contract": "./src/contract/index.js" },
    exports: {
      "./contract": "./src/contract/index.js",
      "./conformance": "./test/conformance/adapter.js",
      "./bridge-protocol": "./src/websocket/bridge-protocol.js",
    },
    dependencies: { zod: dependencies.zod },
    peerDependencies: { vitest: `^${devDependencies.vitest}` },
    peerDependenciesMeta: { vitest: { optional: true } },
  },
});
