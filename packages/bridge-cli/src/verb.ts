import type { Connection } from "./connection.ts";
import type { ExitCode } from "./exit-codes.ts";
import type { ConnectionFlags, FoundConnection } from "./find-connection.ts";
import type { Output } from "./output.ts";

/** What a verb gets: its arguments and options, and how it prints and connects. */
export interface Invocation<Options> {
  args: readonly string[];
  options: Options;
  flags: ConnectionFlags;
  table: VerbTable;
  output: Output;
  env: NodeJS.ProcessEnv;
  stdin: NodeJS.ReadStream;
  /** Aborts at Ctrl-C, unless the verb handles it. */
  signal: AbortSignal;
  /** Connects to the selected Bridge, or to the given one. Sends nothing. */
  connect(found?: FoundConnection): Connection;
  /** Handles Ctrl-C instead of aborting the signal. Returns a function that ends this. */
  onInterrupt(handle: () => void): () => void;
}

/** Runs a verb. Without an exit code, the command succeeded. */
export type Run<Options> = (invocation: Invocation<Options>) => Promise<ExitCode | undefined>;

/** An option of a verb. */
export interface OptionEntry {
  flags: string;
  text: string;
  choices?: readonly string[];
  /** Converts the text. Throws an InvalidArgumentError. Repeated options get the previous value. */
  parse?: (text: string, previous: unknown) => unknown;
  /** Names of options that cannot be used with this one. */
  conflicts?: readonly string[];
}

/** One command of `bridge`. */
export interface VerbEntry {
  /** One word, or two for a command of a group. */
  name: string;
  /** For example `<id> [path]`. */
  arguments?: string;
  summary: string;
  options?: readonly OptionEntry[];
  /** Whether the help does not list it. */
  isHidden?: true;
  /** Lines below the options in the help. */
  help?: string;
  /** Loads the code of the verb, so that the help and the other verbs do not wait for it. */
  load(): Promise<{ run: Run<never> }>;
}

/** Commands that an installed server adds, because they work on its files. */
export interface LocalVerbs {
  verbs: readonly VerbEntry[];
  /** What the groups of these commands do. */
  groups: Readonly<Record<string, string>>;
}

/** All commands, for the help and for completion. */
export interface VerbTable {
  verbs: readonly VerbEntry[];
  /** Commands of a server that is installed next to this program. */
  local: LocalVerbs | null;
  /** What the groups of commands do. */
  groups: Readonly<Record<string, string>>;
  /** The options that every command has. */
  sharedOptions: readonly OptionEntry[];
}
