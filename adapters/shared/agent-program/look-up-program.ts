import { findProgram } from "../process/find-program.ts";
import type { ProgramContext, ProgramLookup } from "./agent-program.ts";

/** Finds a program by its name on PATH, or by its path. `advice` is the sentence that names what to do if it is missing. */
export function lookUpProgram(name: string, { env }: Pick<ProgramContext, "env">, advice: string): ProgramLookup {
  const program = findProgram(name, env["PATH"] ?? "");
  return program === null ? { missing: `${name} was not found on PATH. ${advice}` } : { argv: [program] };
}
