import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir, readFile, rename, rm, stat, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { pino } from "pino";
import { describe, expect, onTestFinished, test } from "vitest";
import { loadTokens, type TokensOptions } from "../../src/access/tokens.ts";
import { ConfigError } from "../../src/errors.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const hash = (token: string) => createHash("sha256").update(token).digest("hex");
const entry = (name: string, fields: Record<string, unknown> = {}) => ({
  name,
  tenant: "team",
  sha256: hash(name),
  scopes: ["read"],
  ...fields,
});

/** Loads tokens with a short polling interval, and closes them after the test. */
async function load(config: Partial<TokensOptions["config"]>, options: Partial<TokensOptions> = {}) {
  const log: string[] = [];
  const announced: string[] = [];
  const dataDir = config.dataDir ?? (await temporaryDirectory());
  const tokens = loadTokens({
    config: { tokenHashes: [], tokensFile: null, ...config, dataDir },
    logger: pino({}, { write: (line: string) => void log.push(line) }),
    announce: (text) => void announced.push(text),
    pollMs: 5,
    ...options,
  });
  onTestFinished(() => tokens.close());
  return { tokens, log, announced, dataDir };
}

const eventually = (check: () => boolean): Promise<void> => expect.poll(check, { timeout: 30_000, interval: 5 }).toBe(true);

const faultsOf = async (act: () => Promise<unknown>): Promise<readonly string[]> => {
  const error = await act().then(
    () => null,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(ConfigError);
  return (error as ConfigError).faults;
};

describe("token hashes in the settings", () => {
  test("each configured token has all scopes in the default tenant", async () => {
    const { tokens, announced } = await load({ tokenHashes: [hash("old"), hash("new")] });
    for (const token of ["old", "new"]) {
      expect(tokens.find(token)).toMatchObject({ tenant: "default", expiresAt: null });
      expect([...(tokens.find(token)?.scopes ?? [])]).toEqual(["dispatch", "read", "approve", "manage", "metrics"]);
    }
    expect(tokens.find("old")?.name).not.toBe(tokens.find("new")?.name);
    for (const token of ["", "Old", "old ", hash("old")]) expect(tokens.find(token)).toBeNull();
    expect(announced).toEqual([]);
  });
});

describe("the generated token", () => {
  test("the generated token is printed once, is readable only by its owner, and works after a restart", async () => {
    const first = await load({});
    const file = path.join(first.dataDir, "token");
    const token = (await readFile(file, "utf8")).trim();
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(token.length).toBeGreaterThanOrEqual(43);
    expect(first.announced).toHaveLength(1);
    expect(first.announced[0]).toContain(token);
    expect(first.log.join("")).not.toContain(token);

    const second = await load({ dataDir: first.dataDir });
    expect(second.announced).toEqual([]);
    expect(second.tokens.find(token)).toMatchObject({ tenant: "default" });
    expect((await load({})).tokens.find(token)).toBeNull();
  });

  test("no token is generated if tokens are configured, even if the tokens file is empty", async () => {
    const directory = await temporaryDirectory();
    const tokensFile = path.join(directory, "tokens.json");
    await writeFile(tokensFile, "[]");
    const { announced } = await load({ dataDir: directory, tokensFile });
    expect(announced).toEqual([]);
    await expect(stat(path.join(directory, "token"))).rejects.toThrow("ENOENT");
  });

  test("Bridge does not start if the token file contains no token or cannot be read", async () => {
    const dataDir = await temporaryDirectory();
    await writeFile(path.join(dataDir, "token"), "\n");
    expect(await faultsOf(() => load({ dataDir }))).toEqual([expect.stringMatching(/^BRIDGE_DATA_DIR: .*delete the file/)]);
    await rm(path.join(dataDir, "token"));
    await mkdir(path.join(dataDir, "token"));
    expect(await faultsOf(() => load({ dataDir }))).toEqual([expect.stringMatching(/cannot be read/)]);
  });
});

describe("the tokens file", () => {
  const write = async (content: unknown, file?: string): Promise<string> => {
    const target = file ?? path.join(await temporaryDirectory(), "tokens.json");
    await writeFile(target, typeof content === "string" ? content : JSON.stringify(content));
    return target;
  };

  test("the tokens file gives each token its tenant and scopes until it expires", async () => {
    let now = Date.parse("2030-01-01T00:00:00Z");
    const tokensFile = await write([
      entry("ci", { tenant: "build", scopes: ["dispatch", "read"] }),
      entry("guest", { expiresAt: "2030-01-01T02:00:00+01:00", sha256: hash("guest").toUpperCase() }),
    ]);
    const { tokens } = await load({ tokensFile, tokenHashes: [hash("root")] }, { clock: () => now });
    expect(tokens.find("ci")).toEqual({ name: "ci", tenant: "build", scopes: new Set(["dispatch", "read"]), expiresAt: null });
    expect(tokens.find("guest")?.expiresAt).toBe(Date.parse("2030-01-01T01:00:00Z"));
    expect(tokens.find("root")?.tenant).toBe("default");
    now = Date.parse("2030-01-01T00:59:59.999Z");
    expect(tokens.find("guest")).not.toBeNull();
    now = Date.parse("2030-01-01T01:00:00Z");
    expect(tokens.find("guest")).toBeNull();
  });

  test("a changed tokens file is reloaded; an invalid one is reported and the previous tokens stay in force", async () => {
    const tokensFile = await write([entry("one")]);
    const { tokens, log } = await load({ tokensFile });
    await write([entry("two")], tokensFile);
    await eventually(() => tokens.find("two") !== null);
    expect(tokens.find("one")).toBeNull();

    await write('[{"name": "three"', tokensFile);
    await eventually(() => log.join("").includes("is not valid JSON"));
    await write([{ ...entry("three"), scopes: ["everything"] }], tokensFile);
    await eventually(() => /0\.scopes\.0 must be one of .* \(entry \\"three\\"\)/.test(log.join("")));
    await rm(tokensFile);
    await eventually(() => log.join("").includes("ENOENT"));
    expect(tokens.find("two")).not.toBeNull();
    expect(tokens.find("three")).toBeNull();

    await write([entry("four")], tokensFile);
    await eventually(() => tokens.find("four") !== null);
    expect(tokens.find("two")).toBeNull();
  });

  test("a tokens file that changed during a descriptor shortage is reloaded after the shortage", async () => {
    const tokensFile = await write([entry("old")]);
    const next = await write([entry("new")]);
    const script = `import { loadTokens } from ${JSON.stringify(new URL("../../src/access/tokens.ts", import.meta.url).href)};
      import { closeSync, openSync, renameSync } from "node:fs";
      import { setTimeout as delay } from "node:timers/promises";
      const log = [];
      const tokens = loadTokens({
        config: { tokenHashes: [], tokensFile: ${JSON.stringify(tokensFile)}, dataDir: "/nowhere" },
        logger: { error: ({ faults }) => log.push(...faults), info() {} },
        pollMs: 5,
      });
      const taken = [];
      try { for (;;) taken.push(openSync("/", "r")); } catch {}
      renameSync(${JSON.stringify(next)}, ${JSON.stringify(tokensFile)});
      while (log.length < 2) await delay(5);
      for (const fd of taken) closeSync(fd);
      while (tokens.find("old") !== null || tokens.find("new") === null) await delay(5);
      process.stdout.write(log[0]);`;
    const run = ["--input-type=module", "-e", script];
    const { stdout } = await promisify(execFile)("sh", ["-c", 'ulimit -n 64 && exec "$@"', "sh", process.execPath, ...run]);
    expect(stdout).toBe("BRIDGE_TOKENS_FILE: cannot be read (EMFILE)");
  });

  test("the listener is called for each token that is removed or changed, and for no other", async () => {
    const tokensFile = await write([entry("gone"), entry("narrowed", { scopes: ["read", "dispatch"] }), entry("kept")]);
    const { tokens, log } = await load({ tokensFile, tokenHashes: [hash("root")] });
    const revoked: unknown[] = [];
    tokens.onRevoked((principal) => revoked.push(principal));
    const [gone, narrowed, kept] = ["gone", "narrowed", "kept"].map((token) => tokens.find(token));
    await write("[", tokensFile);
    await eventually(() => log.join("").includes("is not valid JSON"));
    expect(revoked).toEqual([]);
    await write([entry("new"), entry("kept"), entry("narrowed")], tokensFile);
    await eventually(() => tokens.find("new") !== null);
    expect(revoked).toHaveLength(2);
    for (const [index, principal] of [gone, narrowed].entries()) expect(revoked[index]).toBe(principal);
    expect(tokens.find("kept")).toBe(kept);
    expect(tokens.find("narrowed")?.scopes).toEqual(new Set(["read"]));
  });

  test("the tokens file sets the quota of a tenant, and a change of the quota does not revoke tokens", async () => {
    const tokensFile = await write([entry("one", { weight: 2, maxRunning: 3 }), entry("two", { maxRunning: 3, queueLimit: "off" })]);
    const { tokens, log } = await load({ tokensFile });
    expect(tokens.quotaOf("team")).toEqual({ weight: 2, maxRunning: 3, queueLimit: null });
    expect(tokens.quotaOf("unknown")).toEqual({});
    const revoked: string[] = [];
    let changes = 0;
    tokens.onRevoked(({ name }) => void revoked.push(name));
    tokens.onQuotasChanged(() => {
      changes += 1;
    });
    await write([entry("one", { weight: 0.5, agentMaxRunning: 1, agentQueueLimit: 9 }), entry("two")], tokensFile);
    await eventually(() => changes === 1);
    expect(tokens.quotaOf("team")).toEqual({ weight: 0.5, agentMaxRunning: 1, agentQueueLimit: 9 });
    await write([entry("one", { maxRunning: 1 }), entry("two", { maxRunning: 2 })], tokensFile);
    await eventually(() => log.join("").includes("1.maxRunning"));
    expect(tokens.quotaOf("team").weight).toBe(0.5);
    expect([revoked, changes]).toEqual([[], 1]);
  });

  test("a tokens file may begin with a byte order mark", async () => {
    const { tokens } = await load({ tokensFile: await write(`\uFEFF${JSON.stringify([entry("one")])}`) });
    expect(tokens.find("one")).not.toBeNull();
  });

  test("a tokens file is reloaded when its symbolic link points to another file", async () => {
    const directory = await temporaryDirectory();
    const [first, second, link] = ["first", "second", "link"].map((name) => path.join(directory, name)) as [string, string, string];
    await write([entry("one")], first);
    await write([entry("two")], second);
    await symlink(first, link);
    const { tokens } = await load({ tokensFile: link });
    expect(tokens.find("one")).not.toBeNull();
    await symlink(second, `${link}.new`);
    await rename(`${link}.new`, link);
    await eventually(() => tokens.find("two") !== null);
    expect(tokens.find("one")).toBeNull();
  });

  test.each<[string, unknown, RegExp[]]>([
    ["invalid JSON", "tokens", [/is not valid JSON/]],
    ["an object instead of a list", { name: "a" }, [/must be an array, for example \[\{"name":"ci"/]],
    ["missing fields", [{}], [/0\.name is required/, /0\.tenant is required/, /0\.sha256 is required/, /0\.scopes is required/]],
    ["an unknown field", [entry("a", { scope: "read" })], [/0\.scope is not a known field/]],
    ["a tenant that contains a path", [entry("a", { tenant: "../b" })], [/0\.tenant must be/]],
    ["a token instead of its hash", [entry("a", { sha256: "my-token" })], [/0\.sha256 must be a SHA-256 hash/]],
    ["no scope", [entry("a", { scopes: [] })], [/0\.scopes must have at least 1/]],
    ["an unknown scope", [entry("a", { scopes: ["read", "root"] })], [/0\.scopes\.1 must be one of/]],
    ["an invalid time", [entry("a", { expiresAt: "tomorrow" })], [/0\.expiresAt must be a time/]],
    ["Bridge's own name", [entry("bridge")], [/0\.name must not be bridge/]],
    ["a duplicate name", [entry("a"), entry("a", { sha256: hash("b") })], [/1\.name a is the name of another token/]],
    [
      "a duplicate hash",
      [entry("a"), entry("b", { sha256: hash("a").toUpperCase() })],
      [/1\.sha256 is also the hash of the token a; create another token for one of them \(entry "b"\)$/],
    ],
    ["a weight of 0", [entry("a", { weight: 0 })], [/0\.weight must be a number from 0\.01 to 1000; got 0 \(entry "a"\)$/]],
    [
      "a weight that is not a number",
      [entry("a", { weight: "heavy" })],
      [/0\.weight must be a number from 0\.01 to 1000; got "heavy" \(entry "a"\)$/],
    ],
    [
      "a limit of 0",
      [entry("a", { maxRunning: 0 })],
      [/0\.maxRunning must be "off" or a whole number from 1 to 1000000; got 0 \(entry "a"\)$/],
    ],
    [
      "a limit that is not a number",
      [entry("a", { queueLimit: "none" })],
      [/0\.queueLimit must be "off" or a whole number from 1 to 10000000; got "none" \(entry "a"\)$/],
    ],
    [
      "different quotas for one tenant",
      [entry("a", { weight: 2, maxRunning: "off" }), entry("b", { weight: 3, maxRunning: 1 }), entry("c", { weight: 2 })],
      [
        /1\.weight is 3, but an earlier token of the tenant team has 2; make them equal/,
        /1\.maxRunning is 1, but an earlier token of the tenant team has off; make them equal/,
      ],
    ],
    [
      "a hash from the settings",
      [entry("a", { sha256: hash("root") })],
      [/0\.sha256 is also the hash of the token \S+; create another token for one of them/],
    ],
  ])("Bridge does not start if the tokens file has %s", async (_, content, expected) => {
    const tokensFile = await write(content);
    const faults = await faultsOf(() => load({ tokensFile, tokenHashes: [hash("root")] }));
    expect(faults).toHaveLength(expected.length);
    for (const [index, pattern] of expected.entries()) expect(faults[index]).toMatch(pattern);
    for (const fault of faults) expect(fault).toMatch(/^BRIDGE_TOKENS_FILE: /);
  });

  test("Bridge does not start if the tokens file cannot be read", async () => {
    const tokensFile = path.join(await temporaryDirectory(), "missing.json");
    expect(await faultsOf(() => load({ tokensFile }))).toEqual(["BRIDGE_TOKENS_FILE: cannot be read (ENOENT)"]);
  });
});

test("a description for a comparison covers tokens, tenants, scopes and quotas, and contains no token", async () => {
  const describeFile = async (entries: object[]) => {
    const file = path.join(await temporaryDirectory(), "tokens.json");
    await writeFile(file, JSON.stringify(entries));
    return JSON.stringify((await load({ tokenHashes: [hash("secret")], tokensFile: file })).tokens.describe());
  };
  const [a, b] = [entry("a"), entry("b", { scopes: ["read", "dispatch"] })];
  const description = await describeFile([a, b]);
  expect(await describeFile([{ ...b, scopes: ["dispatch", "read"] }, a])).toBe(description);
  const changes = [
    { tenant: "other" },
    { sha256: hash("c") },
    { scopes: ["manage"] },
    { expiresAt: "2030-01-31T00:00:00Z" },
    { maxRunning: 2 },
  ];
  const changed = await Promise.all(changes.map((change) => describeFile([{ ...a, ...change }, b])));
  expect(new Set([description, ...changed]).size).toBe(changes.length + 1);
  expect(description).not.toContain("secret");
});
