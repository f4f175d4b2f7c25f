import { readdirSync, readFileSync } from "node:fs";
import { copyFile, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { execa } from "execa";
import { describe, expect, test } from "vitest";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const repository = path.resolve(import.meta.dirname, "../..");

/** A code block of a page, and where it is. */
interface Snippet {
  place: string;
  language: string;
  code: string;
}

const pages = ["docs", "examples", "packages", "."].flatMap((directory) =>
  readdirSync(path.join(repository, directory), { recursive: directory !== "." })
    .map((name) => path.join(directory, String(name)))
    .filter((name) => name.endsWith(".md") && !/(^|\/)(node_modules|dist|decisions)\//.test(name)),
);
const snippets = pages.flatMap(readSnippets);
const inLanguage = (wanted: string): Snippet[] => snippets.filter(({ language }) => language === wanted);

function readSnippets(page: string): Snippet[] {
  const text = readFileSync(path.join(repository, page), "utf8");
  return [...text.matchAll(/^( *)```(\w+)\n(.*?)^\1```$/gms)].map(({ index, 2: language = "", 3: code = "" }) => ({
    place: `${page}:${text.slice(0, index).split("\n").length}`,
    language,
    code,
  }));
}

describe("the code blocks of the pages", () => {
  test("the code blocks of the pages in a shell have no syntax errors", async () => {
    expect(inLanguage("sh").length).toBeGreaterThan(40);
    for (const { place, code } of inLanguage("sh")) {
      const { stderr } = await execa("bash", ["-n"], { input: code, reject: false });
      // `<this repository>` is a placeholder, and the only one in these brackets.
      expect({ place, stderr: code.includes("<this repository>") ? "" : stderr }).toEqual({ place, stderr: "" });
    }
  });

  test("the code blocks of the pages in JSON are valid documents, or valid lines", () => {
    expect(inLanguage("json").length).toBeGreaterThan(8);
    for (const { place, code } of inLanguage("json"))
      expect({ place, isValid: isJson(code) || code.trim().split("\n").every(isJson) }).toEqual({ place, isValid: true });
  });

  test("the code blocks of the pages in JavaScript have no syntax errors, and import what they use", async () => {
    expect(inLanguage("js").length).toBeGreaterThan(5);
    const errors = await compile(inLanguage("js"), { allowJs: true, checkJs: true, lib: ["es2024", "dom", "dom.iterable"] });
    // Errors of syntax (1xxx) and configuration (5xxx), and unknown names, modules and exports. Type errors do not count in JavaScript.
    expect(errors.filter((error) => /error TS(1\d{3}|5\d{3}|2304|2305|2307|2552|2614):/.test(error))).toEqual([]);
  });

  test("the code blocks of the pages in TypeScript compile", async () => {
    // The tests of the other packages and of the generated clients compile the other ones.
    const own = inLanguage("ts").filter(({ place }) => /^(docs\/adapters|packages\/(async-kit|nofollow-fs)\/README)\.md/.test(place));
    expect(own.length).toBeGreaterThan(2);
    expect(await compile(own, {})).toEqual([]);
  });
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Type-checks each snippet as a module next to the examples that snippets import. Returns the errors, with the places of the snippets. */
async function compile(given: readonly Snippet[], options: object): Promise<string[]> {
  const directory = await temporaryDirectory();
  const names = given.map(({ place, language }) => `${place.replaceAll(/\W/g, "-")}.${language}`);
  for (const [index, { code }] of given.entries()) await writeFile(path.join(directory, names[index] ?? ""), `${code}\nexport {};\n`);
  for (const example of ["browser/follow-events.js", "adapter/echo-adapter.js"])
    await copyFile(path.join(repository, "examples", example), path.join(directory, path.basename(example)));
  await symlink(path.join(repository, "node_modules"), path.join(directory, "node_modules"));
  const compilerOptions = {
    paths: {
      "#contract": [path.join(repository, "src/contract/index.ts")],
      "bridge-server/contract": [path.join(repository, "src/contract/index.ts")],
      "bridge-server/conformance": [path.join(repository, "test/conformance/adapter.ts")],
    },
    ...options,
  };
  await writeFile(path.join(directory, "package.json"), JSON.stringify({ type: "module" }));
  await writeFile(
    path.join(directory, "tsconfig.json"),
    JSON.stringify({ extends: path.join(repository, "tsconfig.json"), compilerOptions, files: names, include: [] }),
  );
  const { stdout } = await execa(path.join(repository, "node_modules/.bin/tsc"), ["-p", directory], { cwd: directory, reject: false });
  return stdout.split("\n").filter((line) => line.includes("error TS"));
}
