import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import path from "node:path";
import { type OutputChunk, rolldown } from "rolldown";

const source = path.resolve(import.meta.dirname, "..");

/** Returns the files of the built console by their path in `dist/`: the page, its scripts and style sheet, and scripts for later. */
export async function bundleConsole(): Promise<Map<string, string>> {
  const scripts = await bundle();
  const styles = minifyCss(readStyles());
  const styleSheet = `assets/console-${hash("sha256", styles).slice(0, 12)}.css`;
  const [script, shared] = listFirst(scripts);
  const page = readFileSync(path.join(source, "index.html"), "utf8")
    .replace("{{script}}", script)
    .replace("{{shared}}", shared)
    .replace("{{styles}}", styleSheet);
  return new Map([["index.html", page], ...scripts.map(({ fileName, code }) => [fileName, code] as const), [styleSheet, styles]]);
}

/** Bundles the script of the page, what it shares with others, and each script that it loads when it needs it. */
async function bundle(): Promise<OutputChunk[]> {
  await using build = await rolldown({
    input: { console: path.join(source, "src/main.ts") },
    cwd: source,
    platform: "browser",
    tsconfig: false,
    preserveEntrySignatures: "allow-extension",
    onLog(level, { message }) {
      if (level === "warn") throw new Error(message);
    },
  });
  // The names contain a hash of the content, so that browsers can cache the files forever.
  const name = "assets/[name]-[hash].js";
  const { output } = await build.generate({
    format: "esm",
    minify: true,
    entryFileNames: name,
    chunkFileNames: name,
    codeSplitting: { groups: [{ name: "shared", minShareCount: 2, includeDependenciesRecursively: false }] },
  });
  return output.filter((file) => file.type === "chunk");
}

/** Returns the names of the two scripts that the page loads at once. */
function listFirst(scripts: readonly OutputChunk[]): [script: string, shared: string] {
  const entry = scripts.find(({ isEntry }) => isEntry);
  const [shared, ...more] = entry?.imports ?? [];
  if (entry === undefined || shared === undefined || more.length > 0)
    throw new Error("The page must load one script and one that others share.");
  return [entry.fileName, shared];
}

/** Joins the style sheets in the order of their `@import` lines. */
function readStyles(): string {
  const directory = path.join(source, "src/styles");
  const read = (name: string): string => readFileSync(path.join(directory, name), "utf8");
  return read("index.css").replaceAll(/@import "(.+?)";/g, (_, name: string) => read(name));
}

/** Removes comments and the spaces between rules. */
const minifyCss = (css: string): string =>
  css
    .replaceAll(/\/\*.*?\*\//gs, "")
    .replaceAll(/\s+/g, " ")
    .replaceAll(/\s?([{};])\s?/g, "$1")
    .replaceAll(/([:,])\s/g, "$1")
    .replaceAll(";}", "}")
    .trim();
