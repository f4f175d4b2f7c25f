import { z } from "zod";

/** Settings that every adapter of an agent program has; what an adapter has beside them it reads for itself. */
export const programSettingsSchema = z.looseObject({
  /** Program of the `cli` or `http-api` connection: a path, or a name on the PATH. */
  command: z.string().min(1).optional(),
  /** Program of the `acp` connection, where that is another one. */
  acpCommand: z.string().min(1).optional(),
  /** Only this connection, instead of the first that works. */
  connection: z.string().optional(),
  /** `agent`: a home per tenant and agent. `user`: the operator's own, with its logins and its settings. */
  home: z.enum(["agent", "user"]).default("agent"),
  /** Names of further environment variables that the program gets. */
  env: z.array(z.string()).default([]),
  /** Seconds that it may take to answer a probe; else the limit follows the load of the machine. */
  probeSeconds: z.number().positive().optional(),
  /** Configuration of the program's own, as JSON, where it needs one. */
  config: z.record(z.string(), z.unknown()).optional(),
});
export type ProgramSettings = z.infer<typeof programSettingsSchema>;
