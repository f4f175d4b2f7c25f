import { scrypt } from "node:crypto";
import { promisify } from "node:util";
import type { Config } from "../config/config.ts";

const DIGEST_BYTES = 32;
/** The digests of nodes must be comparable, so the salt is constant. */
const SALT = "bridge settings";

/**
 * Computes the digest of the settings that should be equal on all nodes, which includes the webhooks, the tokens, and their tenants and
 * quotas. Everyone who can read the database can read the digest, so it is computed by scrypt, which makes guesses of a weak token slow.
 */
export async function createSettingsDigest(config: Config, describeFiles: () => unknown) {
  let described = "";
  let digest = "";

  async function compute(): Promise<void> {
    const settings = describeSettings(config, describeFiles);
    if (settings === described) return;
    described = settings;
    const bytes = await promisify<string, string, number, Buffer>(scrypt)(settings, SALT, DIGEST_BYTES);
    // The files may have changed again meanwhile.
    if (settings === described) digest = bytes.toString("hex");
  }

  await compute();
  return {
    /** Returns the last digest. If the tokens or the webhooks have changed, computes the next one in the background. */
    current(): string {
      void compute();
      return digest;
    },
  };
}

function describeSettings(config: Config, describeFiles: () => unknown): string {
  const { node, quota, queueLimit, defaultProfile, bodyLimitBytes, rateLimitPerMinute } = config;
  const { callbacks, retentionDays, idleSeconds, approvalSeconds, mcpCommands } = config;
  return JSON.stringify([
    [node.leaseSeconds, node.graceSeconds, node.files],
    [quota, queueLimit, defaultProfile, bodyLimitBytes, rateLimitPerMinute],
    [callbacks, retentionDays, idleSeconds, approvalSeconds, mcpCommands],
    config.publicUrl,
    describeFiles(),
  ]);
}
