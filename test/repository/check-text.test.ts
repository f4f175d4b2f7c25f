import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { execa } from "execa";
import { describe, expect, test } from "vitest";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const repository = path.resolve(import.meta.dirname, "../..");
const program = path.join(repository, "scripts/check-text.ts");
const words = (count: number): string => "word ".repeat(count).trim();

/** Files with one violation each, and a part of its message. */
const planted: readonly { file: string; content: string; message: string }[] = [
  { file: "src/store/a.ts", content: "// The adapter is told the reason.", message: ':1: "told": use' },
  { file: "src/store/b.ts", content: 'export const text = "The gateway says no";', message: ':1: "says": use' },
  { file: "src/store/c.ts", content: "export const text = `The adapter speaks ACP`;", message: ':1: "speaks": use' },
  { file: "src/store/d.ts", content: "export function tellReader() {}", message: ':1: "tell": use' },
  { file: "src/store/e.ts", content: "export const MAX_STORIES = 1;", message: ':1: "STORIES": use' },
  {
    file: "src/store/tell-callers.ts",
    content: "export const x = 1;",
    message: ':1: "tell": use report, return, pass, reject or document (file name)',
  },
  { file: "adapters/codex/a.ts", content: "// A listener hears of it.", message: ':1: "hears": use' },
  { file: "adapters/codex/b.ts", content: "// The limit lets nobody in.", message: ':1: "nobody": use' },
  { file: "adapters/codex/c.ts", content: "// The order goes by the date.", message: ':1: "goes by": use' },
  { file: "adapters/codex/d.ts", content: "// A link in its place is kept.", message: ':1: "in its place": use' },
  { file: "adapters/codex/e.ts", content: "// A process of its own.", message: ':1: "of its own": use' },
  { file: "adapters/codex/f.ts", content: "// Lets go of the lock.", message: ':1: "Lets go": use' },
  { file: "adapters/codex/g.ts", content: "// Parts, put together.", message: ':1: "put together": use' },
  { file: "adapters/codex/h.ts", content: "// The file beside it.", message: ':1: "beside": use' },
  { file: "packages/council/src/a.ts", content: "// The rules of the house.", message: ':1: "the house": use' },
  { file: "packages/council/src/b.ts", content: "export function normaliseNames() {}", message: ':1: "normalise": use the American' },
  { file: "packages/council/src/c.ts", content: '// Its "cancelled" is a cancelled task.', message: ':1: "cancelled": use canceled' },
  { file: "packages/council/src/d.ts", content: `// ${words(40)}`, message: ":1: wrap comments at 140 characters; got 202" },
  { file: "packages/council/src/e.ts", content: `const x = 1; // ${words(40)}`, message: ":1: wrap comments at 140" },
  { file: "packages/council/README.md", content: "# Council\n\nThe default behaviour.", message: ':3: "behaviour": use the American' },
  { file: "docs/page.md", content: words(40), message: ":1: wrap Markdown at 120 characters; got 199" },
  { file: "docs/decisions/0001-page.md", content: "The client is told.", message: ':1: "told": use' },
  { file: "test/a.test.ts", content: 'it("of an adapter, which is told why", () => {});', message: ':1: "told": use' },
  {
    file: "test/b.test.ts",
    content: '])("reports %s", () => {});',
    message: ':1: a title is a sentence with its subject; got "reports …"',
  },
  { file: "bench/c.ts", content: "/** The time that a reader says. */", message: ':1: "says": use' },
  { file: "README.md", content: "Whoever asks gets an answer.", message: ':1: "Whoever": use' },
];

const LEGAL: readonly { file: string; content: string }[] = [
  {
    file: "src/store/legal.ts",
    content: 'const state = "cancelled";\n// `cancelled` is the name on the wire; the task was canceled.\nexport { state };',
  },
  { file: "src/store/long.ts", content: `export const text = "${words(40)}";` },
  { file: "src/store/speaker.ts", content: "export const essay = 1; // Assays, storage, foretold, and a warehouse." },
  {
    file: "docs/tables.md",
    content: `| ${words(40)} |\n|---|\n\n\`\`\`sh\n${words(40)}\n\`\`\`\n\n- [${words(20)}](https://example.org/${"x".repeat(100)})`,
  },
  { file: "docs/code.md", content: `\`${words(40)}\`` },
  { file: "test/scripted.test.ts", content: 'const steps = [{ say: "The agent says it." }];\ntest("an agent answers", () => {});' },
  { file: "packages/council/node_modules/dependency/README.md", content: "It says so." },
];

describe("the check of shipped text", () => {
  test("the check of shipped text reports every planted violation with its place, and nothing else", async () => {
    const root = await plant([...planted, ...LEGAL]);
    const { exitCode, stderr } = await check("--root", root);
    expect(exitCode).toBe(1);
    const places = stderr.split("\n").filter((line) => line !== "" && !line.startsWith("    "));
    for (const { file, message } of planted)
      expect(
        places.filter((line) => line.startsWith(file + message)),
        file + message,
      ).toHaveLength(1);
    expect(places.filter((line) => !planted.some(({ file, message }) => line.startsWith(file + message)))).toEqual([]);
  });

  test("the check of shipped text passes text without violations", async () => {
    const root = await plant(LEGAL);
    const { exitCode, stdout, stderr } = await check("--root", root);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(stdout).toContain("0 violation(s) in 6 shipped files.");
  });

  test("the check of shipped text is limited to the paths that are given", async () => {
    const root = await plant(planted);
    const { stderr } = await check("--root", root, "docs/", "src/store/a.ts");
    expect(stderr.split("\n").filter((line) => line.startsWith("    "))).toHaveLength(3);
  });

  test("the check of shipped text fails when it finds no file to check", async () => {
    const { exitCode, stderr } = await check("--root", await plant([]));
    expect(exitCode).toBe(1);
    expect(stderr).toContain("No shipped file was found");
  });

  test("the check of shipped text passes in this repository", async () => {
    const { exitCode, stderr } = await check("--root", repository);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
  });
});

async function plant(files: readonly { file: string; content: string }[]): Promise<string> {
  const root = await temporaryDirectory();
  await writeFile(path.join(root, "biome.json"), await readFile(path.join(repository, "biome.json")));
  for (const { file, content } of files) {
    await mkdir(path.dirname(path.join(root, file)), { recursive: true });
    await writeFile(path.join(root, file), content);
  }
  return root;
}

function check(...options: readonly string[]) {
  return execa(process.execPath, [program, ...options], { reject: false });
}
