import { readFileSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import { writePackage } from "./write-package.ts";

const source = path.resolve(import.meta.dirname, "../packages/bridge-client");

const { positionals } = parseArgs({ allowPositionals: true });
const { name, version, description, license, type, sideEffects, engines, dependencies } = JSON.parse(
  readFileSync(path.join(source, "package.json"), "utf8"),
);

// `bridge-client`, as its users install it.
await writePackage(path.resolve(positionals[0] ?? path.join(source, "dist")), {
  project: "packages/bridge-client",
  files: { LICENSE: "LICENSE", "README.md": "packages/bridge-client/README.md" },
  manifest: {
    name,
    version,
    description,
    license,
    type,
    sideEffects,
    engines,
    exports: { ".": { types: "./index.d.ts", default: "./index.js" } },
    dependencies: Object.fromEntries(Object.entries(dependencies).map(([dependency, exact]) => [dependency, `^${exact}`])),
  },
});
