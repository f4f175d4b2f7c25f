import { spawn } from "node:child_process";
import { onTestFinished } from "vitest";

/**
 * Starts a program that repeatedly replaces `tree/sub` below a root by a directory and by a link to `outside`, also after it was removed.
 */
export async function startSwapper(root: string, outside: string): Promise<void> {
  const swap = `const fs = require("node:fs"); process.chdir(${JSON.stringify(root)}); console.log("ready");
    const attempt = (act) => { try { act(); } catch {} };
    for (;;) {
      attempt(() => fs.mkdirSync("tree/sub/inner", { recursive: true })); attempt(() => fs.writeFileSync("tree/sub/inner/file", ""));
      attempt(() => fs.rmSync("tree/kept", { recursive: true })); attempt(() => fs.renameSync("tree/sub", "tree/kept"));
      attempt(() => fs.symlinkSync(${JSON.stringify(outside)}, "tree/sub")); attempt(() => fs.unlinkSync("tree/sub"));
    }`;
  const swapper = spawn(process.execPath, ["-e", swap], { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void swapper.kill("SIGKILL"));
  await new Promise((resolve) => swapper.stdout.once("data", resolve));
}
