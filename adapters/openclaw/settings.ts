import { z } from "zod";

/** The settings of this adapter. */
export const openClawSettingsSchema = z.object({
  /** Where the gateway listens. */
  url: z.url({ protocol: /^wss?$/ }).default("ws://127.0.0.1:18789"),
  /** The gateway's own token, `gateway.auth.token` in its configuration. */
  token: z.string().min(1).optional(),
  /** Where tasks work: in Bridge's workspaces, which the gateway must see, or in the workspace of OpenClaw's agent. */
  workspace: z.enum(["bridge", "agent"]).default("bridge"),
  /** The gateway's state directory, where it is on this machine: for what it has no call for. */
  stateDir: z.string().min(1).optional(),
  /** Argument list of OpenClaw's command line on this machine: for what only that can do. */
  command: z.array(z.string().min(1)).min(1).optional(),
});
export type OpenClawSettings = z.infer<typeof openClawSettingsSchema>;
