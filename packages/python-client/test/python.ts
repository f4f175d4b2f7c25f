import path from "node:path";
import { execa } from "execa";

/** The directory of the Python client. */
export const clientDirectory = path.resolve(import.meta.dirname, "..");

/** Debian's Python, for which `apt-get` installs httpx and mypy. Another Python can be the first on the PATH. */
export const python = process.env["BRIDGE_TEST_PYTHON"] ?? "/usr/bin/python3";

/** The environment of Python programs that import the client. It contains no proxy. */
export const pythonEnvironment = {
  PATH: process.env["PATH"] ?? "",
  PYTHONPATH: path.join(clientDirectory, "src"),
  PYTHONDONTWRITEBYTECODE: "1",
  PYTHONWARNINGS: "error::ResourceWarning",
};

/** Throws with the command that installs a missing module. */
export async function requirePythonModules(): Promise<void> {
  for (const [module, debianPackage] of [
    ["httpx", "python3-httpx"],
    ["mypy", "mypy"],
    ["setuptools", "python3-setuptools"],
  ]) {
    const { exitCode } = await execa(python, ["-c", `import ${module}`], { reject: false });
    if (exitCode !== 0)
      throw new Error(`The tests of the Python client need ${module} for ${python}. Run: apt-get install ${debianPackage}`);
  }
}
