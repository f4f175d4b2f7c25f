import type { GatewayCapabilities } from "#contract";
import { programCapabilities } from "../shared/agent-program/capabilities.ts";

/** What Claude Code can do over ACP. */
export const capabilities: GatewayCapabilities = programCapabilities;

/** Over `cli` nobody can be asked while it runs. */
export const cliCapabilities: GatewayCapabilities = { ...capabilities, approvals: false };
