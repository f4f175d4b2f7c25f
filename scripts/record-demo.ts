import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { createInterface } from "node:readline";
import { drawCast, palettes } from "./demo/draw-cast.ts";
import { shortenOutput } from "./demo/shorten-output.ts";
import { replaceSection } from "./replace-section.ts";

// Runs the demo, and writes what it prints to the README, as text and as an animated picture.

const repository = path.resolve(import.meta.dirname, "..");
const readme = path.join(repository, "README.md");
const images = path.join(repository, "docs/images");

const sample = shortenOutput(await recordDemo());
writeFileSync(readme, replaceSection(readFileSync(readme, "utf8"), "demo", `\`\`\`\n${sample.join("\n")}\n\`\`\``));
mkdirSync(images, { recursive: true });
for (const theme of ["light", "dark"] as const) {
  writeFileSync(path.join(images, `demo-${theme}.svg`), drawCast(["$ npm run demo", "", ...sample], palettes[theme]));
}

/** Runs the demo, and returns the lines that it prints. */
async function recordDemo(): Promise<string[]> {
  const child = spawn(process.execPath, ["scripts/demo.ts"], { cwd: repository, stdio: ["ignore", "pipe", "inherit"] });
  const lines: string[] = [];
  createInterface({ input: child.stdout }).on("line", (line) => lines.push(line));
  const [exitCode] = await once(child, "close");
  if (exitCode !== 0) throw new Error(`The demo ended with exit code ${exitCode}.`);
  return lines;
}
