import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { listAllSettings } from "../../src/app/load-config.ts";
import { errorCodes } from "../../src/errors.ts";

const allSettings = listAllSettings();
const repository = path.resolve(import.meta.dirname, "../..");
const { scripts } = JSON.parse(readFileSync(path.join(repository, "package.json"), "utf8")) as { scripts: Record<string, string> };
const pages = ["docs", "deploy", "examples", "packages", "."].flatMap((directory) =>
  readdirSync(path.join(repository, directory), { recursive: directory !== "." })
    .map((name) => path.join(directory, String(name)))
    .filter((name) => name.endsWith(".md") && !/\/(node_modules|dist)\//.test(name)),
);

/** Names that pages may mention although they are not settings. */
const otherNames = new Set([
  "BRIDGE_TASK_ID", // Set by Bridge on every runtime process.
  "BRIDGE_GATEWAY_TOKEN_HASH_FILE",
  "BRIDGE_CALLBACK_SECRETS_FILE",
  "BRIDGE_URL", // Settings of the Convex example.
  "BRIDGE_TOKEN",
  "BRIDGE_PROFILE", // A setting of the command line.
  "BRIDGE_TEST_POSTGRES", // Settings of the tests.
  "BRIDGE_TEST_PYTHON",
  "BRIDGE_TEST_IMAGES",
  "BRIDGE_GREETER_GREETING", // The setting of the example of a new adapter.
]);

test("the pages to check include the documentation, the decisions and the guide for contributors", () => {
  expect(pages).toEqual(
    expect.arrayContaining(["docs/architecture.md", "docs/decisions/0001-store-the-callback-schedule.md", "CONTRIBUTING.md"]),
  );
});

describe.each(pages)("%s", (page) => {
  const text = readFileSync(path.join(repository, page), "utf8");

  test("links only to existing files", () => {
    const targets = [...text.matchAll(/\]\((?!https?:|#)([^)#\s]+)(#[^)]*)?\)/g)].map(([, target]) => target ?? "");
    expect(targets.filter((target) => !existsSync(path.resolve(repository, path.dirname(page), target)))).toEqual([]);
  });

  test("links only to existing sections", () => {
    const links = [...text.matchAll(/\]\((?!https?:)([^)#\s]*)#([^)\s]+)\)/g)].map(([, target = "", section = ""]) => ({
      target,
      section,
    }));
    const missing = links.filter(({ target, section }) => {
      const file = target === "" ? page : path.join(path.dirname(page), target);
      return !sectionsOf(path.join(repository, file)).includes(section);
    });
    expect(missing).toEqual([]);
  });

  test("each page mentions only existing scripts and settings", () => {
    const commands = [...text.matchAll(/npm run ([a-z:-]+)/g)].map(([, name]) => name ?? "");
    expect(commands.filter((name) => !Object.hasOwn(scripts, name))).toEqual([]);
    const names = [...text.matchAll(/\b(?:BRIDGE|GATEWAY)_[A-Z_]+\b(?!\*)/g)].map(([name]) => name);
    expect(names.filter((name) => !Object.hasOwn(allSettings, name) && !otherNames.has(name))).toEqual([]);
  });
});

/** The anchors of a page's headings, as GitHub generates them. */
function sectionsOf(file: string): string[] {
  const headings = [...readFileSync(file, "utf8").matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) => heading);
  return headings.map((heading) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}_ -]/gu, "")
      .replaceAll(" ", "-"),
  );
}

test("every npm script runs an existing file", () => {
  const files = Object.values(scripts).flatMap((command) =>
    [...command.matchAll(/\b(?<!\/)(?:src|scripts|test|bench|packages)\/[\w/.-]+\.[jt]s\b/g)].map(([file]) => file),
  );
  expect(files.length).toBeGreaterThan(5);
  expect(files.filter((file) => !existsSync(path.join(repository, file)))).toEqual([]);
});

test("the troubleshooting page lists every code of a rejected request with its status", () => {
  const text = readFileSync(path.join(repository, "docs/troubleshooting.md"), "utf8");
  const rows = text.split("\n").map((line) => line.split("|").map((cell) => cell.trim()));
  const missing = Object.entries(errorCodes).filter(
    ([code, { httpStatus }]) =>
      !rows.some(([, codes = "", status]) => codes.split(", ").includes(`\`${code}\``) && status === String(httpStatus)),
  );
  expect(missing.map(([code]) => code)).toEqual([]);
});
