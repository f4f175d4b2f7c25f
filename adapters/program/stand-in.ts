import type { ProgramConnection } from "./agent-program.ts";

/**
 * A connection that does without a program, for machines on which there is none: one that is there but fails is never stood in for,
 * because what its tasks can do is something else. The operator's choice of this connection counts before that.
 */
export function standIn<C extends ProgramConnection>(connection: C, programs: readonly ProgramConnection[]): C {
  return {
    ...connection,
    find(context) {
      if (context.settings.connection === connection.name) return connection.find(context);
      const there = programs.find((program) => "argv" in program.find(context));
      if (there === undefined) return connection.find(context);
      return {
        missing: `Not used while a program for ${there.name} is installed; only the setting for the connection brings it into use.`,
      };
    },
  };
}
