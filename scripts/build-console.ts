import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import path from "node:path";
import { rolldown } from "rolldown";

const source = path.resolve(import.meta.dirname, "../web");

/** Returns the files of the built console by their path in `web/dist/`: the page, one script and one style sheet. */
export async function buildConsole(): Promise<Map<string, string>> {
  const script = await bundle();
  const styles = minifyCss(readFileSync(path.join(source, "src/styles.css"), "utf8"));
  const names = { script: nameAsset("console", "js", script), styles: nameAsset("console", "css", styles) };
  const page = readFileSync(path.join(source, "index.html"), "utf8");
  return new Map([
    ["index.html", page.replace("{{script}}", names.script).replace("{{styles}}", names.styles)],
    [names.script, script],
    [names.styles, styles],
  ]);
}

async function bundle(): Promise<string> {
  await using build = await rolldown({
    input: path.join(source, "src/main.ts"),
    cwd: source,
    platform: "browser",
    onLog(level, { message }) {
      if (level === "warn") throw new Error(`The console does not build: ${message}`);
    },
  });
  const { output } = await build.generate({ format: "esm", minify: true });
  const [chunk, ...others] = output;
  if (others.length > 0) throw new Error("The console must be one script.");
  return chunk.code;
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
