import { z } from "zod";

/** Settings that all adapters of agent programs share. An adapter parses its other settings itself. */
export const programSettingsSchema = z.looseObject({
  /** Executable of the `cli` or `http-api` connection: a path, or a name looked up on PATH. */
  command: z.string().min(1).optional(),
  /** Executable of the `acp` connection, if it is a different program. */
  acpCommand: z.string().min(1).optional(),
  /** Use only this connection. Default: the first one that works. */
  connection: z.string().optional(),
  /** `agent`: one home directory per tenant and agent. `user`: the operator's home directory, with its logins and settings. */
  home: z.enum(["agent", "user"]).default("agent"),
  /** Names of additional environment variables that the program inherits. */
  env: z.array(z.string()).default([]),
  /** Limit of a probe, in seconds. Default: a limit that grows with the load of the host. */
  probeSeconds: z.number().positive().optional(),
  /** The program's own configuration, as JSON. */
  config: z.record(z.string(), z.unknown()).optional(),
});
export type ProgramSettings = z.infer<typeof programSettingsSchema>;
