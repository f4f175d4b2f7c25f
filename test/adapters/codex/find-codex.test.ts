import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { findCodex, findCodexAcp } from "../../../adapters/codex/find-codex.ts";
import { createCodexAdapter } from "../../../adapters/codex/index.ts";
import type { ProgramContext } from "../../../adapters/shared/agent-program/agent-program.ts";
import { createAdapterConfig } from "../../conformance/adapter-config.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { programContext } from "../shared/agent-program/scripted-program.ts";

const contextOf = (directory: string, settings: Partial<ProgramContext["settings"]> = {}): ProgramContext =>
  programContext(directory, { settings: { home: "agent", env: [], ...settings }, env: { PATH: directory, OPENAI_API_KEY: "k" } });

function writeProgram(file: string, script = "#!/bin/sh\n"): string {
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, script);
  chmodSync(file, 0o755);
  return file;
}

/** Installs Codex as npm does: a link to a launcher script, and the native program in a package per platform. */
async function installByNpm(): Promise<{ directory: string; native: string }> {
  const modules = path.join(await temporaryDirectory(), "node_modules");
  const script = writeProgram(path.join(modules, "@openai/codex/bin/codex.js"));
  const platform = path.join(modules, `@openai/codex-${process.platform}-${process.arch}`);
  const native = writeProgram(path.join(platform, "vendor/some-target/bin/codex"));
  writeFileSync(path.join(platform, "package.json"), "{}");
  const directory = path.join(modules, ".bin");
  mkdirSync(directory);
  symlinkSync(script, path.join(directory, "codex"));
  return { directory, native };
}

test("findCodex finds the native program behind npm's launcher script", async () => {
  const { directory, native } = await installByNpm();
  expect(findCodex(contextOf(directory))).toEqual({ argv: [native] });
});

test("findCodex uses any other program unchanged", async () => {
  const directory = await temporaryDirectory();
  const program = writeProgram(path.join(directory, "codex"));
  expect(findCodex(contextOf(directory))).toEqual({ argv: [program] });
  const script = writeProgram(path.join(directory, "codex.js"));
  expect(findCodex(contextOf(directory, { command: script }))).toEqual({ argv: [script] });
});

test("codex-acp uses the codex that was found, or else its bundled one", async () => {
  const { directory, native } = await installByNpm();
  const program = writeProgram(path.join(directory, "codex-acp"));
  expect(findCodexAcp(contextOf(directory))).toEqual({ argv: [program, native] });
  const alone = await temporaryDirectory();
  expect(findCodexAcp(contextOf(alone, { acpCommand: program }))).toEqual({ argv: [program] });
});

test("a missing program is reported with the install command and the setting", async () => {
  const context = contextOf(await temporaryDirectory());
  expect(findCodex(context)).toEqual({ missing: expect.stringMatching(/npm install -g @openai\/codex, or set BRIDGE_CODEX_COMMAND/) });
  expect(findCodexAcp(context)).toEqual({ missing: expect.stringMatching(/codex-acp, or set BRIDGE_CODEX_ACP_COMMAND/) });
  expect(findCodexAcp({ ...context, settings: { ...context.settings, home: "user" } })).toEqual({
    missing: expect.stringContaining("BRIDGE_CODEX_HOME=user"),
  });
});

const answers = (sandbox: string) => `#!/bin/sh
case "$1 $2" in
  "--version ") echo "codex-cli 0.169.0" ;;
  "exec --help") echo "--ignore-user-config --ignore-rules --sandbox --output-schema" ;;
  "sandbox --") ${sandbox} ;;
esac
`;

test.each([
  [
    "health reports a sandbox that does not work",
    answers("echo 'bwrap: no' >&2; exit 1"),
    /sandbox.*apt-get install bubblewrap.*bwrap: no/,
  ],
  ["health reports a version without the required flags", `#!/bin/sh\necho 0.1.0\n`, /codex 0\.1\.0 does not support --ignore-user-config/],
])("%s", async (_, script, detail) => {
  const directory = await temporaryDirectory();
  writeProgram(path.join(directory, "codex"), script);
  const adapter = createCodexAdapter();
  const context = contextOf(directory);
  await adapter.initialize(createAdapterConfig(context.dataDir, { ...context, settings: { connection: "cli" } }));
  expect(await adapter.checkHealth()).toMatchObject({ status: "offline", connection: null, detail: expect.stringMatching(detail) });
  await adapter.shutdown();
});
