import type { ExecutionRequest } from "#contract";
import type { ProgramContext } from "../shared/agent-program/agent-program.ts";
import { createTaskConfiguration, fixedConfiguration } from "./configuration.ts";
import { toToml } from "./toml.ts";

/** Builds the arguments of `codex` for a task. They contain no secrets and no long text; the prompt is sent through stdin. */
export function createCodexArguments(request: ExecutionRequest, context: ProgramContext, schemaFile: string | null): string[] {
  const { directories, profile, resumeToken } = request;
  return [
    ...["exec", "--json", "--skip-git-repo-check"],
    // Settings of the home directory and rules could allow commands outside the sandbox.
    ...["--ignore-user-config", "--ignore-rules"],
    ...["--sandbox", profile === "inspect" ? "read-only" : "workspace-write"],
    ...["--cd", directories.cwd],
    ...(directories.cwd === directories.workspace ? [] : ["--add-dir", directories.workspace]),
    ...(schemaFile === null ? [] : ["--output-schema", schemaFile]),
    ...formatConfigurationArguments({ ...fixedConfiguration, ...createTaskConfiguration(request, context) }),
    // Codex accepts its flags only before the subcommand `resume`.
    ...(resumeToken === undefined ? [] : ["resume", resumeToken]),
    "-",
  ];
}

const formatConfigurationArguments = (configuration: Record<string, unknown>): string[] =>
  Object.entries(configuration).flatMap(([key, value]) => ["--config", `${key}=${toToml(value)}`]);
