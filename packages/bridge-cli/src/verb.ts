import type { Connection } from "./connection.ts";
import type { ExitCode } from "./exit-codes.ts";
import type { ConnectionFlags, FoundConnection } from "./find-connection.ts";
import type { Output } from "./output.ts";

/** What a verb gets: its arguments and options, and how it prints and connects. */
export interface Invocation<Options> {
  args: readonly string[];
  options: Options;
  flags: ConnectionFlags;
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
