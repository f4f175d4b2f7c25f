import { createHmac, hash, randomBytes, timingSafeEqual } from "node:crypto";
import { link, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";

const ID_LENGTH = 12;
const PART_LENGTH = 24;

/**
 * Creates and checks the keys of sessions, which are also the resume tokens. A key is signed with a secret of this Bridge and identifies
 * the Bridge, the agent and the tenant that it belongs to.
 */
export interface SessionKeys {
  /** Identifies this Bridge. */
  bridgeId: string;
  /** `home` is the agent's home directory, which is different for each tenant and agent. */
  create(agentId: string, home: string): string;
  /** Whether the key belongs to this agent of this tenant. */
  belongs(key: string, agentId: string, home: string): boolean;
  /** Whether this Bridge created the key, for any agent or tenant. */
  isOurs(key: string): boolean;
}

/** Opens the session keys of a data directory, which stores the secret. The first call creates the secret. */
export async function openSessionKeys(dataDir: string): Promise<SessionKeys> {
  const secret = await readOrCreateSecret(path.join(dataDir, "session-secret"));
  const id = hash("sha256", secret).slice(0, ID_LENGTH);
  const sign = (agent: string, home: string, nonce: string): string =>
    createHmac("sha256", secret).update(`${agent}\0${home}\0${nonce}`).digest("hex").slice(0, PART_LENGTH);
  const keyOf = (agentId: string, home: string, nonce: string): string => {
    // The gateway converts agent ids in session keys to lower case.
    const agent = agentId.toLowerCase();
    return `agent:${agent}:bridge-${id}-${nonce}-${sign(agent, home, nonce)}`;
  };
  const pattern = new RegExp(`^agent:[^:]+:bridge-${id}-([0-9a-f]{${PART_LENGTH}})-[0-9a-f]{${PART_LENGTH}}$`);
  return {
    bridgeId: id,
    create: (agentId, home) => keyOf(agentId, home, randomBytes(PART_LENGTH / 2).toString("hex")),
    belongs(key, agentId, home) {
      const nonce = pattern.exec(key)?.[1];
      if (nonce === undefined) return false;
      const expected = Buffer.from(keyOf(agentId, home, nonce));
      const actual = Buffer.from(key);
      return actual.length === expected.length && timingSafeEqual(actual, expected);
    },
    isOurs: (key) => pattern.test(key),
  };
}

/** Creates the secret atomically: a partly written secret would invalidate all sessions. */
async function readOrCreateSecret(file: string): Promise<string> {
  await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
  const draft = `${file}.${randomBytes(8).toString("hex")}`;
  await writeFile(draft, randomBytes(32).toString("hex"), { mode: 0o600 });
  try {
    await link(draft, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  } finally {
    await rm(draft);
  }
  return await readFile(file, "utf8");
}
