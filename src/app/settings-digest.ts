import { scrypt } from "node:crypto";
import { promisify } from "node:util";
import type { Config } from "../config/config.ts";
import { listServerSettings } from "../config/list-settings.ts";

const DIGEST_BYTES = 32;
/** The digests of nodes must be comparable, so the salt is constant. */
const SALT = "bridge settings";

/**
 * Computes the digest of the settings that all nodes share, of the webhooks, and of the tokens with their tenants and quotas. Everyone who
 * can read the database can read the digest, so it is computed by scrypt, which makes guesses of a weak token slow.
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
  const shared = listServerSettings().filter(({ setting }) => setting.shared);
  return JSON.stringify([shared.map(({ path, setting }) => [setting.variable, readPath(config, path)]), describeFiles()]);
}

const readPath = (value: unknown, path: readonly string[]): unknown =>
  path.reduce((group, name) => (group as Readonly<Record<string, unknown>>)[name], value);
