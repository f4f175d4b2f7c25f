import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { execa } from "execa";

const directory = path.join(import.meta.dirname, "clients");
const stamp = path.join(directory, "node_modules/.checked");
const lockHash = createHash("sha256")
  .update(readFileSync(path.join(directory, "package-lock.json")))
  .digest("hex");

// A full installation takes half a minute, and only a change of the lock file changes the packages.
if (!existsSync(stamp) || readFileSync(stamp, "utf8") !== lockHash) {
  await execa("npm", ["ci"], { cwd: directory, stdio: "inherit" });
  writeFileSync(stamp, lockHash);
}
