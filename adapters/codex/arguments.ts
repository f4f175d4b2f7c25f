import type { ExecutionRequest } from "#contract";
import type { ProgramContext } from "../shared/agent-program/agent-program.ts";
import { fixedConfiguration, taskConfiguration } from "./configuration.ts";
import { toToml } from "./toml.ts";

/** The arguments of `codex` for a task; the prompt comes by stdin. No secret and nothing long stands here. */
export function codexArguments(request: ExecutionRequest, context: ProgramContext, schemaFile: string | null): string[] {
  const { directories, profile, resumeToken } = request;
  return [
    ...["exec", "--json", "--skip-git-repo-check"],
    // Neither the home's settings nor anybody's rules, some of which let commands out of the sandbox.
    ...["--ignore-user-config", "--ignore-rules"],
    ...["--sandbox", profile === "inspect" ? "read-only" : "workspace-write"],
    ...["--cd", directories.cwd],
    ...(directories.cwd === directories.workspace ? [] : ["--add-dir", directories.workspace]),
    ...(schemaFile === null ? [] : ["--output-schema", schemaFile]),
    ...configurationArguments({ ...fixedConfiguration, ...taskConfiguration(request, context) }),
    // Flags come before it.
    ...(resumeToken === undefined ? [] : ["resume", resumeToken]),
    "-",
  ];
}

const configurationArguments = (configuration: Record<string, unknown>): string[] =>
  Object.entries(configuration).flatMap(([key, value]) => ["--config", `${key}=${toToml(value)}`]);
