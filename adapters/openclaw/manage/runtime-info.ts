import { z } from "zod";
import type { RuntimeInfo } from "#contract";
import { readConfig } from "./gateway-config.ts";
import { callGateway, type ManageContext } from "./manage-context.ts";

const infoSchema = z.object({ uptimeMs: z.number(), cpuCount: z.number().optional(), memoryTotalBytes: z.number().optional() });

/** Returns the gateway's version, uptime and limits. */
export async function getRuntimeInfo(context: ManageContext): Promise<RuntimeInfo> {
  const [info, config] = await Promise.all([callGateway(context, infoSchema, "system.info"), readConfig(context)]);
  const { hello } = context.gateway;
  return {
    name: "OpenClaw",
    version: hello?.version ?? null,
    uptimeSeconds: Math.floor(info.uptimeMs / 1000),
    limits: {
      maxMessageBytes: hello?.policy.maxPayload ?? null,
      maxConcurrentRuns: config.config.agents?.defaults?.maxConcurrent ?? null,
      configWritesPerMinute: 30,
      cpuCount: info.cpuCount ?? null,
      memoryBytes: info.memoryTotalBytes ?? null,
    },
  };
}
