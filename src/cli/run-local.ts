import { CommandError, type Invocation, type Run } from "bridge-cli";
import { readDatabase } from "../config/config.ts";
import { readEnvFile } from "../config/read-env-file.ts";
import { ConfigError, ConflictError, NoDatabaseError, StartError } from "../errors.ts";

/** The environment of a start in the current directory. */
export interface LocalEnvironment {
  /** The variables of the process, and those of `.env` that the process does not have. */
  variables: Readonly<Record<string, string | undefined>>;
  /** Names that only `.env` sets. */
  fromFile: ReadonlySet<string>;
}

/** What a command for the server gets in addition. */
export interface LocalInvocation<Options> extends Invocation<Options> {
  environment: LocalEnvironment;
}

/** Creates a command that reads the settings of a start in this directory. Its errors get the exit codes of the command line. */
export const createLocalVerb =
  <Options>(run: (invocation: LocalInvocation<Options>) => Promise<Awaited<ReturnType<Run<Options>>>>): Run<Options> =>
  async (invocation) => {
    try {
      return await run({ ...invocation, environment: readEnvironment(invocation.env) });
    } catch (error) {
      throw toCommandError(error);
    }
  };

/** Variables of the command line itself, which are no settings of the server. */
const ownVariables = new Set(["BRIDGE_URL", "BRIDGE_TOKEN", "BRIDGE_PROFILE"]);

function readEnvironment(all: NodeJS.ProcessEnv): LocalEnvironment {
  const env = Object.fromEntries(Object.entries(all).filter(([name]) => !ownVariables.has(name)));
  const file = readEnvFile();
  return { variables: { ...file, ...env }, fromFile: new Set(Object.keys(file).filter((name) => env[name] === undefined)) };
}

function toCommandError(error: unknown): unknown {
  if (!(error instanceof StartError)) return error;
  const message = error.message.replace(/^Bridge cannot start: (.)/, (_, first: string) => first.toUpperCase());
  return new CommandError(kindOf(error), message, { cause: error });
}

function kindOf(error: StartError): CommandError["kind"] {
  if (error instanceof ConfigError) return "usage";
  if (error instanceof ConflictError) return "conflict";
  if (error instanceof NoDatabaseError) return "notFound";
  // By its name, because its class belongs to PostgreSQL, which SQLite does not load.
  return error.cause instanceof Error && error.cause.name === "DatabaseUnavailableError" ? "unreachable" : "failed";
}

/** Finds the database of the settings. */
export const findDatabase = ({ variables }: LocalEnvironment) => readDatabase(variables);
