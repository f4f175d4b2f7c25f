import path from "node:path";
import { isExecutable } from "../support/is-executable.ts";

/**
 * Returns the path of a program. Debian installs servers into a directory that is not on the PATH of every user. Throws an error that names
 * the package to install.
 */
export function findProgram(name: string, debianPackage = name): string {
  const directories = [...(process.env["PATH"] ?? "").split(path.delimiter), "/usr/bin", "/usr/sbin", "/usr/local/sbin"];
  const found = directories.map((directory) => path.join(directory, name)).find(isExecutable);
  if (found !== undefined) return found;
  throw new Error(`These tests need ${name}. Install it (\`apt-get install ${debianPackage}\` on Debian).`);
}
