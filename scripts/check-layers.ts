import { existsSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import type { Statement, VariableDeclarator } from "@swc/core";
import { Visitor } from "@swc/core/Visitor.js";
import { cruise, type ICruiseResult } from "dependency-cruiser";
import { layers } from "./layers.ts";

const roots = ["src", "adapters", "packages", "scripts", "bench", "examples", "test"];

supportUsing();
const { positionals } = parseArgs({ allowPositionals: true });
process.exitCode = await checkLayers(path.resolve(positionals[0] ?? "."));

/** Follows every import below `directory`, prints each one that breaks a rule, and returns the exit code. */
async function checkLayers(directory: string): Promise<number> {
  const { modules, summary } = await followImports(directory);
  const read = modules.filter((module) => roots.some((root) => module.source.startsWith(`${root}/`)));
  const followed = read.reduce((count, module) => count + module.dependencies.length, 0);
  // Without a TypeScript parser, dependency-cruiser finds no imports and therefore no violations.
  if (read.length === 0 || followed === 0) {
    console.error(`No import was followed in ${directory}: the check itself is broken.`);
    return 1;
  }
  for (const { rule, from, to } of summary.violations) console.error(`${rule.name}: ${from} -> ${to}`);
  const found = summary.violations.length;
  console.log(
    `${found === 0 ? "Every import points down" : `${found} import(s) break the rules`} (${read.length} modules, ${followed} imports).`,
  );
  return found === 0 ? 0 : 1;
}

async function followImports(directory: string): Promise<ICruiseResult> {
  process.chdir(directory);
  const { output } = await cruise(
    roots.filter((root) => existsSync(root)),
    {
      validate: true,
      ruleSet: { forbidden: layers },
      doNotFollow: { path: "node_modules" },
      // Convex, the generated clients and the peers of the benchmarks have separate packages. What is built contains its sources again.
      exclude: { path: ["^examples/convex/", "^packages/[^/]+/dist/", "^test/openapi/clients/", "^bench/peers/"] },
      tsPreCompilationDeps: true,
      parser: "swc",
      outputType: "json",
    },
    { exportsFields: ["exports"], conditionNames: ["import", "node", "default", "types"], extensions: [".ts", ".js", ".json"] },
  );
  return typeof output === "string" ? (JSON.parse(output) as ICruiseResult) : output;
}

/** Teaches the syntax visitor of dependency-cruiser the statement `using`. Without it, one such statement fails the whole check. */
function supportUsing(): void {
  const { visitStatement } = Visitor.prototype;
  Visitor.prototype.visitStatement = function (statement) {
    const { type, decls } = statement as { type: string; decls?: VariableDeclarator[] };
    if (type !== "UsingDeclaration" || decls === undefined) return visitStatement.call(this, statement);
    return { ...statement, decls: this.visitVariableDeclarators(decls) } as unknown as Statement;
  };
}
