import { createHmac, hash, randomBytes, timingSafeEqual } from "node:crypto";
import { link, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";

const ID_LENGTH = 12;
const PART_LENGTH = 24;

/**
 * Names the sessions of tasks. A name is the resume token, and says by itself whose it is: which Bridge made it, and for the agent of which
 * tenant. Without this Bridge's secret nobody can make one.
 */
export interface SessionKeys {
  /** Tells this Bridge from others. */
  bridgeId: string;
  /** `home` tells tenants and their agents apart. */
  create(agentId: string, home: string): string;
  /** Is it a session of this agent of this tenant? */
  belongs(key: string, agentId: string, home: string): boolean;
  /** Is it a session of this Bridge, whosever task it is? */
  isOurs(key: string): boolean;
}

/** Opens the names under a data directory; its secret is made once, and stays. */
export async function openSessionKeys(dataDir: string): Promise<SessionKeys> {
  const secret = await readSecret(path.join(dataDir, "session-secret"));
  const id = hash("sha256", secret).slice(0, ID_LENGTH);
  const sign = (agent: string, home: string, nonce: string): string =>
    createHmac("sha256", secret).update(`${agent}\0${home}\0${nonce}`).digest("hex").slice(0, PART_LENGTH);
  const keyOf = (agentId: string, home: string, nonce: string): string => {
    // The gateway knows its agents, and so their sessions, in lower case.
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
      const given = Buffer.from(key);
      return given.length === expected.length && timingSafeEqual(given, expected);
    },
    isOurs: (key) => pattern.test(key),
  };
}

/** A secret that was half written when Bridge was killed would lock every session out: it appears whole, or not at all. */
async function readSecret(file: string): Promise<string> {
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
