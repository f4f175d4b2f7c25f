import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { createInterface } from "node:readline";
import { drawCast, palettes } from "./demo/draw-cast.ts";
import { shortenOutput } from "./demo/shorten-output.ts";
import { replaceSection } from "./replace-section.ts";

// Runs both demos, and writes what they print to the README and to the page about work trees, as text and as animated pictures.

const repository = path.resolve(import.meta.dirname, "..");
const images = path.join(repository, "docs/images");

await record({
  page: path.join(repository, "README.md"),
  name: "demo",
  options: [],
  label: "Output of the demo: the dispatch of a task, its events, its signed callback, and a repeated dispatch that runs nothing.",
  shorten: shortenOutput,
});
await record({
  page: path.join(repository, "docs/work-trees.md"),
  name: "demo-trees",
  options: ["--trees"],
  label: "Output of the demo of work trees: two dispatches, the events of both tasks, their diffs, and their commits in a clone.",
  shorten: (lines) => lines.slice(lines.findIndex((line) => line.startsWith("Dispatch"))),
});

/** A demo, and where its output goes. */
interface Recording {
  page: string;
  /** The name of the section of the page, and of the pictures. */
  name: string;
  options: readonly string[];
  label: string;
  shorten(lines: readonly string[]): string[];
}

/** Runs a demo, and writes its output to a page and to pictures. */
async function record({ page, name, options, label, shorten }: Recording): Promise<void> {
  const sample = shorten(await runDemo(options));
  writeFileSync(page, replaceSection(readFileSync(page, "utf8"), name, `\`\`\`\n${sample.join("\n")}\n\`\`\``));
  mkdirSync(images, { recursive: true });
  const command = ["npm run demo", ...(options.length > 0 ? ["--", ...options] : [])].join(" ");
  for (const theme of ["light", "dark"] as const)
    writeFileSync(
      path.join(images, `${name}-${theme}.svg`),
      drawCast([`$ ${command}`, "", ...sample], { palette: palettes[theme], label }),
    );
}

/** Runs the demo, and returns the lines that it prints. */
async function runDemo(options: readonly string[]): Promise<string[]> {
  const child = spawn(process.execPath, ["scripts/demo.ts", ...options], { cwd: repository, stdio: ["ignore", "pipe", "inherit"] });
  const lines: string[] = [];
  createInterface({ input: child.stdout }).on("line", (line) => lines.push(line));
  const [exitCode] = await once(child, "close");
  if (exitCode !== 0) throw new Error(`The demo ended with exit code ${exitCode}.`);
  return lines;
}
