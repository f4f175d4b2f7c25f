import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import path from "node:path";
import { rolldown } from "rolldown";

const source = path.resolve(import.meta.dirname, "../web");

/** Returns the files of the built console by their path in `web/dist/`: the page, its script and style sheet, and scripts for later. */
export async function buildConsole(): Promise<Map<string, string>> {
  const { script, later } = await bundle();
  const styles = minifyCss(readStyles());
  const names = { script: nameAsset("console", "js", script), styles: nameAsset("console", "css", styles) };
  const page = readFileSync(path.join(source, "index.html"), "utf8");
  return new Map([
    ["index.html", page.replace("{{script}}", names.script).replace("{{styles}}", names.styles)],
    [names.script, script],
    ...later,
    [names.styles, styles],
  ]);
}

/** Bundles the script of the page, and each script that a page loads when it needs it. */
async function bundle(): Promise<{ script: string; later: [name: string, code: string][] }> {
  await using build = await rolldown({
    input: path.join(source, "src/main.ts"),
    cwd: source,
    platform: "browser",
    onLog(level, { message }) {
      if (level === "warn") throw new Error(`The console does not build: ${message}`);
    },
  });
  const { output } = await build.generate({ format: "esm", minify: true, chunkFileNames: "[name]-[hash].js" });
  const [page, ...others] = output;
  const later = others.map((file): [string, string] => {
    // It could import only the script of the page, whose name is not known yet.
    if (file.type !== "chunk" || file.imports.length > 0) throw new Error(`${file.fileName} must be a script without imports.`);
    return [`assets/${file.fileName}`, file.code];
  });
  return { script: page.code, later };
}

/** Joins the style sheets in the order of their `@import` lines. */
function readStyles(): string {
  const directory = path.join(source, "src/styles");
  const read = (name: string): string => readFileSync(path.join(directory, name), "utf8");
  return read("index.css").replaceAll(/@import "(.+?)";/g, (_, name: string) => read(name));
}

/** The name contains a hash of the content, so that browsers can cache the file forever. */
const nameAsset = (name: string, type: string, content: string): string => `assets/${name}-${hash("sha256", content).slice(0, 12)}.${type}`;

/** Removes comments and the spaces between rules. */
const minifyCss = (css: string): string =>
  css
    .replaceAll(/\/\*.*?\*\//gs, "")
    .replaceAll(/\s+/g, " ")
    .replaceAll(/\s?([{};])\s?/g, "$1")
    .replaceAll(/([:,])\s/g, "$1")
    .replaceAll(";}", "}")
    .trim();
