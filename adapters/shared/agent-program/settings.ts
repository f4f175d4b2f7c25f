import { z } from "zod";
import { type AdapterSetting, choice, integer, readInteger, readList } from "#contract";

/** Settings that every adapter of an agent program has; each adapter parses its other settings itself. */
export const programSettingsSchema = z.looseObject({
  /** Program of the `cli` or `http-api` connection: a path, or a name on PATH. */
  command: z.string().min(1).optional(),
  /** Program of the `acp` connection, if it is not `command`. */
  acpCommand: z.string().min(1).optional(),
  /** The only connection that may be used. Absent: the first one that works. */
  connection: z.string().optional(),
  /** `agent`: a home per tenant and agent. `user`: the operator's own, with its logins and its settings. */
  home: z.enum(["agent", "user"]).default("agent"),
  /** Names of further environment variables that the program gets. */
  env: z.array(z.string()).default([]),
  /** Time limit of a probe, in seconds. Absent: it grows with the load of the machine. */
  probeSeconds: z.number().positive().optional(),
  /** The modes of the model proxy, for all adapters and for single ones. Absent: off. */
  modelProxy: z.string().optional(),
  /** The program's own configuration, as JSON. */
  config: z.record(z.string(), z.unknown()).optional(),
});
export type ProgramSettings = z.infer<typeof programSettingsSchema>;

/** Defines the setting `command` or `acpCommand`. */
export const defineCommand = (variable: string, title: string, defaultCommand: string) =>
  ({
    variable,
    schema: z.string().min(1).optional().describe(`${title} executable: a path, or a name looked up on PATH. Default: ${defaultCommand}`),
  }) satisfies AdapterSetting;

/** Returns the schema of a program with its arguments. All faults have one message, because the value is a single JSON text. */
export function argvSchema(example: string) {
  const message = `must be a JSON array of strings, for example ${example}`;
  return z.array(z.string(message).min(1, message), message).min(1, message);
}

/** Defines the setting `connection`, with the connections in the order in which they are tried. */
export const defineConnection = <const Names extends readonly [string, ...string[]]>(variable: string, title: string, names: Names) =>
  ({
    variable,
    schema: choice(names)
      .optional()
      .describe(
        `The only connection to ${title} that Bridge may use: ${joinNames(names)}. Default: the first connection in this order that works`,
      ),
  }) satisfies AdapterSetting;

/** Defines the setting `home`. */
export const defineHome = (variable: string, title: string) =>
  ({
    variable,
    schema: choice(["agent", "user"])
      .default("agent")
      .describe(`Home directory of ${title}: agent (one per tenant and agent) or user (the operator's own, with its login).`),
  }) satisfies AdapterSetting;

/** Defines the setting `env`. */
export const defineEnv = (variable: string, title: string) =>
  ({
    variable,
    read: readList,
    schema: z
      .array(z.string())
      .default([])
      .describe(`Names of additional environment variables that Bridge passes to ${title}, comma-separated.`),
  }) satisfies AdapterSetting;

/** The setting `probeSeconds`, which all agent programs share. */
export const probeSeconds = {
  variable: "BRIDGE_PROBE_SECONDS",
  read: readInteger,
  schema: integer(1, 600).optional().meta({
    description:
      "Time limit for an agent program to start and answer, in seconds, from 1 to 600; applies to health checks and to the start of a task over acp. Default: 20, up to 80 on a busy machine",
    after: "BRIDGE_IDLE_SECONDS",
  }),
} satisfies AdapterSetting;

/** Joins names to "a, b or c". `Intl.ListFormat` does the same and adds 13 ms to the start. */
const joinNames = (names: readonly string[]): string => `${names.slice(0, -1).join(", ")} or ${names.at(-1)}`;
