import { existsSync, readFileSync, statSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { listAllSettings } from "../../src/app/load-config.ts";

const allSettings = listAllSettings();
const repository = path.resolve(import.meta.dirname, "../..");
const read = (name: string): string => readFileSync(path.join(repository, name), "utf8");

describe("Dockerfile", () => {
  const instructions = read("Dockerfile")
    .replaceAll(/\\\n\s*/g, "")
    .split("\n")
    .filter((line) => /^[A-Z]+ /.test(line))
    .map((line) => ({ name: line.slice(0, line.indexOf(" ")), rest: line.slice(line.indexOf(" ") + 1).trim() }));
  const all = (name: string): string[] => instructions.filter((instruction) => instruction.name === name).map(({ rest }) => rest);
  const copied = all("COPY")
    .filter((rest) => !rest.startsWith("--from="))
    .flatMap((rest) => rest.split(/\s+/).slice(0, -1));

  test("Dockerfile copies only existing files that .dockerignore does not exclude", () => {
    const allowed = read(".dockerignore")
      .split("\n")
      .filter((line) => line.startsWith("!"))
      .map((line) => line.slice(1));
    expect(copied.length).toBeGreaterThan(5);
    expect(copied.filter((name) => !existsSync(path.join(repository, name)))).toEqual([]);
    expect(copied.filter((name) => !allowed.some((entry) => name === entry || name.startsWith(`${entry}/`)))).toEqual([]);
    expect(allowed.filter((name) => !existsSync(path.join(repository, name)))).toEqual([]);
  });

  test("Dockerfile starts a file of the image under an init process", () => {
    const command = JSON.parse(all("CMD").at(-1) ?? "") as string[];
    expect(command[0]).toBe("node");
    expect(statSync(path.join(repository, command[1] ?? "")).isFile()).toBe(true);
    expect(copied.some((name) => command[1]?.startsWith(`${name}/`))).toBe(true);
    expect(JSON.parse(all("ENTRYPOINT")[0] ?? "")).toEqual(["tini", "--"]);
  });

  test("Dockerfile uses the Node major version of the lock file, a user other than root, and no development tools", () => {
    expect(all("FROM").map((rest) => rest.split(" ")[0])).toEqual(["node:24-slim", "node:24-slim", "node:24-slim", "bridge", "bridge"]);
    expect(all("USER").at(-1)).toMatch(/^[1-9]\d*:[1-9]\d*$/);
    expect(all("RUN").find((rest) => rest.includes("npm ci"))).toContain("--omit=dev");
    // The target `agents` is not part of the default target.
    expect(
      all("RUN")
        .filter((rest) => !rest.includes("bubblewrap"))
        .join("\n"),
    ).not.toMatch(/build-essential|python|gcc|make\b/);
    expect(all("HEALTHCHECK")[0]).toContain("/healthz");
  });

  test("Dockerfile names settings that exist", () => {
    const named = all("ENV").flatMap((rest) => [...rest.matchAll(/(BRIDGE_[A-Z_]+)=/g)].map(([, name]) => name));
    expect(named).toEqual(["BRIDGE_HOST", "BRIDGE_PORT", "BRIDGE_DATA_DIR"]);
    expect(named.filter((name) => !Object.hasOwn(allSettings, name ?? ""))).toEqual([]);
  });
});

describe("docker-compose.yml", () => {
  const text = read("docker-compose.yml");
  const { services, volumes } = parse(text) as {
    services: Record<
      string,
      {
        build: string;
        environment: Record<string, string | number>;
        volumes: string[];
        healthcheck: { test: string[] };
        stop_grace_period: string;
      }
    >;
    volumes: Record<string, unknown>;
  };
  const bridge = services["bridge"];

  test("docker-compose.yml builds this repository and keeps the data in a declared volume", () => {
    expect(existsSync(path.join(repository, bridge?.build ?? "missing", "Dockerfile"))).toBe(true);
    const [volume, directory] = bridge?.volumes[0]?.split(":") ?? [];
    expect(Object.keys(volumes)).toContain(volume);
    expect(directory).toBe(/BRIDGE_DATA_DIR=(\S+)/.exec(read("Dockerfile"))?.[1]);
  });

  test("docker-compose.yml names settings that exist, and requires a token", () => {
    const commented = [...text.matchAll(/# (BRIDGE_[A-Z_]+):/g)].map(([, name]) => name ?? "");
    const named = [...Object.keys(bridge?.environment ?? {}), ...commented];
    expect(named).toContain("BRIDGE_CALLBACK_ALLOW");
    expect(named.filter((name) => !Object.hasOwn(allSettings, name))).toEqual([]);
    expect(bridge?.environment["BRIDGE_GATEWAY_TOKEN_HASH"]).toMatch(/^\$\{BRIDGE_GATEWAY_TOKEN_HASH:\?/);
  });

  test("docker-compose.yml has a stop grace period longer than Bridge's drain time", () => {
    const drainSeconds = Number(bridge?.environment["BRIDGE_DRAIN_SECONDS"]);
    const [, margin] = /CLOSE_MARGIN_MS = (\d+)_000/.exec(read("src/main.ts")) ?? [];
    expect(Number.parseInt(bridge?.stop_grace_period ?? "", 10)).toBeGreaterThan(drainSeconds + Number(margin));
  });

  test("docker-compose.yml has the same health check as the image", () => {
    expect(bridge?.healthcheck.test.slice(0, 3)).toEqual(["CMD", "node", "-e"]);
    expect(bridge?.healthcheck.test[3]).toContain("/healthz");
  });
});

describe("deploy/compose.cluster.yml", () => {
  interface Service {
    build?: string;
    environment: Record<string, string | number>;
    volumes: string[];
    stop_grace_period?: string;
  }
  const { services, volumes } = parse(read("deploy/compose.cluster.yml"), { merge: true }) as {
    services: Record<string, Service>;
    volumes: Record<string, unknown>;
  };
  const nodes = Object.entries(services).filter(([, { build }]) => build !== undefined);

  test("deploy/compose.cluster.yml builds this repository for three nodes, each with its own name, address and volume", () => {
    expect(nodes.map(([name]) => name)).toEqual(["bridge-1", "bridge-2", "bridge-3"]);
    for (const [name, { build, environment, volumes: mounts }] of nodes) {
      expect(existsSync(path.join(repository, "deploy", build ?? "", "Dockerfile"))).toBe(true);
      expect(environment).toMatchObject({ BRIDGE_NODE_NAME: name, BRIDGE_NODE_URL: `http://${name}:8787` });
      expect(mounts).toEqual([`${name}-data:/data`]);
    }
    const declared = Object.values(services).flatMap(({ volumes: mounts }) => mounts.map((mount) => mount.split(":")[0] ?? ""));
    expect(declared.filter((name) => !name.startsWith(".")).toSorted()).toEqual(Object.keys(volumes).toSorted());
  });

  test("deploy/compose.cluster.yml names settings that exist, and sets those without which Bridge refuses PostgreSQL", () => {
    for (const [, { environment }] of nodes) {
      expect(Object.keys(environment).filter((name) => !Object.hasOwn(allSettings, name))).toEqual([]);
      expect(environment).toHaveProperty("BRIDGE_GATEWAY_TOKEN_HASH");
      expect(environment).toHaveProperty("BRIDGE_SANDBOX");
      expect(environment["BRIDGE_DATABASE_URL"]).toMatch(/^postgres:/);
    }
  });

  test("deploy/compose.cluster.yml gives each node the drain time, the time to close, and 5 s to stop", () => {
    const [, margin] = /CLOSE_MARGIN_MS = (\d+)_000/.exec(read("src/main.ts")) ?? [];
    for (const [, { environment, stop_grace_period: period = "" }] of nodes)
      expect(Number.parseInt(period, 10)).toBe(Number(environment["BRIDGE_DRAIN_SECONDS"]) + Number(margin) + 5);
  });

  test("Caddy passes requests to every node", () => {
    expect(services["caddy"]?.environment["NODES"]).toBe(nodes.map(([name]) => `${name}:8787`).join(" "));
  });
});
