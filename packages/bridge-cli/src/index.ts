export { CommandError } from "./command-error.ts";
export type { Output } from "./output.ts";
export { parseIsoTime } from "./parse-time.ts";
export { type Field, printRecord } from "./record.ts";
export { runCli } from "./run-cli.ts";
export { type Column, printTable } from "./table.ts";
export { paint } from "./text.ts";
export type { Invocation, LocalVerbs, Run, VerbEntry } from "./verb.ts";
