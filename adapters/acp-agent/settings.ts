import { z } from "zod";
import { type AdapterSettings, choice, readJson, settingsSchema } from "#contract";
import { probeSeconds } from "../shared/agent-program/settings.ts";

const commandMessage = 'must be an array of strings, for example ["goose","acp"]';
const modeOrMethodId = z.string().min(1);
const agentSchema = z.preprocess(
  (value) => (Array.isArray(value) ? { command: value } : value),
  z.strictObject({
    /** The program and its arguments. It implements the Agent Client Protocol on stdin and stdout. */
    command: z.array(z.string(commandMessage).min(1, commandMessage), commandMessage).min(1, commandMessage),
    /** Names of additional environment variables to pass to the agent. */
    env: z.array(z.string().regex(/^[A-Za-z_]\w*$/, "must be the name of a variable, without its value")).default([]),
    /** `agent`: one home directory per tenant and agent. `user`: the operator's home directory, with its login. */
    home: choice(["agent", "user"]).default("agent"),
    /** Session mode per profile, as an id that the agent defines. */
    modes: z.strictObject({ inspect: modeOrMethodId.optional(), modify: modeOrMethodId.optional() }).default({}),
    /** Authentication method to call before opening a session, as an id that the agent defines. */
    authMethod: modeOrMethodId.optional(),
  }),
);

/** The operator's configuration of an agent. */
export type AcpAgent = z.output<typeof agentSchema>;

const agentsSchema = z.record(
  z.string().regex(/^[a-z][a-z0-9-]{0,63}$/, "the name must start with a-z and contain only a-z, 0-9 and -"),
  agentSchema,
);

/** The settings of the agents that run as `acp:<name>`. */
export const acpAgentSettings = {
  agents: {
    variable: "BRIDGE_ACP_AGENTS",
    read: readJson,
    schema: z
      .unknown()
      .transform((value, context): Record<string, AcpAgent> => {
        const { data, error } = agentsSchema.safeParse(value);
        if (error === undefined) return data;
        context.addIssue(
          `must be a JSON object of agents and their commands, for example {"goose":["goose","acp"]}${describeFault(error)}`,
        );
        return z.NEVER;
      })
      .default({})
      .describe(
        'Agents that BRIDGE_ADAPTERS can name as acp:<name>: a JSON object such as {"goose":["goose","acp"]}. Instead of a command, an agent can be an object with command, env, home, modes and authMethod.',
      ),
  },
  probeSeconds,
} satisfies AdapterSettings;

export const acpAgentSettingsSchema = settingsSchema(acpAgentSettings);

/** Describes the first invalid entry. Empty if the value is not an object. */
function describeFault({ issues: [fault] }: z.ZodError): string {
  if (fault === undefined || fault.path.length === 0) return "";
  const message = fault.code === "invalid_key" ? fault.issues[0]?.message : fault.message;
  return ` (${fault.path.join(".")}: ${message})`;
}
