import { existsSync, globSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";

const repository = path.resolve(import.meta.dirname, "../..");

/** Directories of test/ that mirror no source directory, with their purpose. */
const suites: Readonly<Record<string, string>> = {
  browser: "tests in a real browser",
  cluster: "several nodes on one database under load, and the tests of src/cluster",
  conformance: "the kits that adapters and stores must pass",
  crash: "kills Bridge at random moments",
  deploy: "the files of deploy/ with real load balancers",
  fixtures: "programs that tests start",
  harness: "time limits, temporary files and leftover processes of the tests themselves",
  image: "the image, built and run",
  openapi: "generated clients",
  repository: "the conventions, pages, examples and packages of this repository",
  runtimes: "real agent programs",
  sandbox: "a real sandbox",
  scenarios: "a real Bridge from start to stop",
  support: "what several tests use",
};

/** Returns the source directories that a directory below test/ may mirror. */
function sourceOf(directory: string): string[] {
  const [first, ...rest] = directory.split("/");
  if (first === "adapters" || first === "bench") return [directory];
  if (first === "..") return ["src", "."].map((below) => path.posix.join("packages", rest[1] ?? "", below, ...rest.slice(3)));
  return [`src/${directory}`];
}

const entries = globSync(["test/**", "packages/*/test/**"], { cwd: repository, withFileTypes: true }).filter(
  ({ name, parentPath }) => !`${parentPath}/${name}`.includes("node_modules"),
);
/** The position below `test/`, such as `events/event-log.test.ts`, or `../packages/council/test/input.test.ts` of a package. */
const positionOf = ({ name, parentPath }: { name: string; parentPath: string }): string =>
  path.relative(path.join(repository, "test"), path.join(parentPath, name));
const mirrored = entries.filter((entry) => positionOf(entry) !== "" && !Object.hasOwn(suites, positionOf(entry).split("/")[0] ?? ""));

describe("the tests mirror the sources", () => {
  test("every directory of tests has the name of a directory of sources", () => {
    const places = mirrored.filter((entry) => entry.isDirectory()).map(positionOf);
    expect(places.length).toBeGreaterThan(20);
    const strange = places.filter((place) => !/(^|\/)recorded(\/|$)|\/(golden|prompts)$/.test(place));
    expect(strange.filter((place) => !sourceOf(place).some((source) => existsSync(path.join(repository, source))))).toEqual([]);
  });

  test("a test with the name of a source file that it imports is in the mirrored directory", () => {
    const tests = mirrored.filter((entry) => entry.isFile() && entry.name.endsWith(".test.ts")).map(positionOf);
    expect(tests.length).toBeGreaterThan(200);
    const misplaced = tests.filter((place) => {
      const file = path.join(repository, "test", place);
      const imported = new RegExp(`from "(\\.[^"]*/${path.basename(place, ".test.ts")}\\.ts)"`).exec(readFileSync(file, "utf8"))?.[1];
      if (imported === undefined) return false;
      const source = path.relative(repository, path.resolve(path.dirname(file), path.dirname(imported)));
      return !/(^|\/)test(\/|$)/.test(source) && !sourceOf(path.dirname(place)).includes(source);
    });
    expect(misplaced).toEqual([]);
  });

  test("the list of suites is complete and names only existing directories", () => {
    expect(Object.keys(suites).filter((name) => !existsSync(path.join(repository, "test", name)))).toEqual([]);
  });
});
