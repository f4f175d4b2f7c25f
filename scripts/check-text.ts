import { readdirSync, readFileSync, statSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";

/** Code and pages that ship, as paths from the root of the repository, without generated files. */
const SHIPPED = [
  /^(src|adapters|packages\/[^/]+\/(src|build)|scripts|examples)\/.+\.(ts|js)$/,
  /^(docs|examples|deploy)\/.+\.md$/,
  /^packages\/[^/]+\/README\.md$/,
  /^packages\/python-client\/(src|test)\/.+\.py$/,
  /^(README|CONTRIBUTING|SECURITY|AGENTS)\.md$/,
];
/** Tests and benchmarks. Only their comments and titles are checked, because their strings are the texts of scripted agents. */
const TESTS = /^(test|bench|packages\/[^/]+\/test)\/.+\.ts$/;
const EXCLUDED = /(^|\/)(node_modules|dist|_generated|generated)\//;

interface Rule {
  /** Applied to one line, in which the words of identifiers are separate. */
  readonly pattern: RegExp;
  readonly replacement: string;
  /** Checks only prose: Markdown outside of code, and comments. Strings and identifiers may repeat a name that a wire fixes. */
  readonly proseOnly?: true;
}

const RULES: readonly Rule[] = [
  { pattern: /\b(tell|tells|told|telling|teller)\b/i, replacement: "report, return, pass, reject or document" },
  { pattern: /\b(say|says|said|saying)\b/i, replacement: "report, return, print, set or state" },
  { pattern: /\b(speak|speaks|spoke|spoken|speaking)\b/i, replacement: "implement, support or accept" },
  { pattern: /\b(hear|hears|heard)\b/i, replacement: "receive or observe" },
  { pattern: /\b(story|stories)\b/i, replacement: "event log or timeline" },
  { pattern: /\b(nobody|whoever)\b/i, replacement: "no client, any caller, or the passive voice" },
  { pattern: /\b(go|goes|going) by\b/i, replacement: "follow, match or depend on" },
  { pattern: /\bin (its|their) place\b/i, replacement: "instead, or name what happens" },
  { pattern: /\bof (its|their) own\b/i, replacement: "its own …, or separate" },
  { pattern: /\b(let|lets|letting) go\b/i, replacement: "release or close" },
  { pattern: /\bput together\b/i, replacement: "assemble or combine" },
  { pattern: /\bbeside\b/i, replacement: "next to, in addition to, or with" },
  { pattern: /\b(the|whole) house\b/i, replacement: "the repository" },
  {
    pattern:
      /\b(?:un|re|de)?(?:authori|canonicali|capitali|categori|customi|emphasi|finali|generali|initiali|locali|materiali|maximi|minimi|normali|optimi|organi|prioriti|reali|recogni|saniti|seriali|speciali|standardi|summari|synchroni|tokeni|utili|visuali)s(?:e|es|ed|er|ers|ing|ation|ations)\b|\b(?:behaviours?|catalogues?|centre[sd]?|colours?|coloured|defences?|favours?|favourites?|fulfils?|grey|honours?|honoured|labelled|labelling|licences?|modelled|modelling|neighbours?|neighbouring|signalled|signalling|travelled|analysed?|artefacts?|whilst|amongst)\b/i,
    replacement: "the American spelling",
  },
  {
    pattern: /\b(cancelled|cancelling)\b/i,
    replacement: "canceled, canceling; in backticks or quotes where it is the name on the wire",
    proseOnly: true,
  },
];

/** The first word of a title that needs the title of its group to be understood. */
const FRAGMENT =
  /^(is|are|was|were|does|do|has|have|can|cannot|may|must|will|and|also|then|never|not|whose|that|accepts|adds|allows|asks|closes|contains|continues|counts|creates|deletes|ends|fails|finds|gets|gives|ignores|includes|keeps|kills|loses|makes|omits|passes|prints|reaches|rejects|removes|replaces|reports|returns|runs|sends|sets|shows|starts|stays|stops|stores|succeeds|takes|throws|uses|waits|writes)\b/;

interface Exception {
  /** The start of a path. */
  readonly file: string;
  /** What the line contains. */
  readonly text: RegExp;
  readonly reason: string;
}

const EXCEPTIONS: readonly Exception[] = [
  { file: "test/adapters/claude-agent-sdk/", text: /echo heard/, reason: "a line of a shell script" },
  { file: "docs/", text: /`nobody`/, reason: "the name of a user" },
  { file: "docs/council.md", text: /^\| `product` .*user story/, reason: "words to be found in a question" },
  { file: "docs/adapters.md", text: /\bspeak: /, reason: "a field of the conformance kit" },
  { file: "examples/adapter/", text: /\bspeak: /, reason: "a field of the conformance kit" },
  { file: "test/repository/check-text.test.ts", text: /content: /, reason: "planted violations" },
  { file: "scripts/check-text.ts", text: /(pattern|text): |\?:un\|re|`tellStory`/, reason: "the rules themselves" },
  {
    file: "packages/council/src/",
    text: /"[^"]*\b(say|speak|hears?)\b[^"]*"/i,
    reason: "instructions to a model, and descriptions of a role",
  },
  { file: "examples/adapter/echo-adapter.test.js", text: /speak: /, reason: "a scenario of the conformance kit" },
  {
    file: "packages/council/src/",
    text: /"The house style"|"spacing", "colour"|"user story"|deserialisation"|"colour and contrast"|recognised practice|say the same and differ/,
    reason: "a term of editors; words to be found in a question; texts of roles and reports, which artifacts repeat",
  },
];

const MARKDOWN_WIDTH = 120;

interface Hit {
  readonly file: string;
  readonly line: number;
  readonly message: string;
  readonly text: string;
}

process.exitCode = main();

/** Prints every violation in shipped text, or in the files whose paths start with an argument, and returns the exit code. */
function main(): number {
  const { values, positionals } = parseArgs({
    options: { root: { type: "string", default: "." } },
    allowPositionals: true,
  });
  const root = path.resolve(values.root);
  const files = listShippedFiles(root).filter((file) => positionals.length === 0 || positionals.some((start) => file.startsWith(start)));
  if (files.length === 0) {
    console.error(`No shipped file was found in ${root}.`);
    return 1;
  }
  const codeWidth = readCodeWidth(root);
  const hits = files.flatMap((file) => checkFile(file, readFileSync(path.join(root, file), "utf8"), codeWidth));
  for (const { file, line, message, text } of hits) console.error(`${file}:${line}: ${message}\n    ${text}`);
  console.log(`${hits.length} violation(s) in ${files.length} shipped files.`);
  return hits.length === 0 ? 0 : 1;
}

function listShippedFiles(root: string): string[] {
  return readdirSync(root)
    .filter((name) => !name.startsWith(".") && name !== "node_modules")
    .flatMap((name) =>
      statSync(path.join(root, name)).isDirectory()
        ? readdirSync(path.join(root, name), { recursive: true, encoding: "utf8" }).map((below) => path.posix.join(name, below))
        : [name],
    )
    .filter((file) => [...SHIPPED, TESTS].some((pattern) => pattern.test(file)) && !EXCLUDED.test(file))
    .sort();
}

function readCodeWidth(root: string): number {
  const { formatter } = JSON.parse(readFileSync(path.join(root, "biome.json"), "utf8")) as { formatter: { lineWidth: number } };
  return formatter.lineWidth;
}

function checkFile(file: string, content: string, codeWidth: number): Hit[] {
  const lines = content.split("\n");
  const hits = file.endsWith(".md") ? checkMarkdown(file, lines) : checkCode(file, lines, codeWidth);
  const nameHits = checkWords(separateWords(file), false).map((message) => createHit(file, 1, `${message} (file name)`, file));
  return [...nameHits, ...hits].filter((hit) => !EXCEPTIONS.some((it) => file.startsWith(it.file) && it.text.test(hit.text)));
}

function checkMarkdown(file: string, lines: readonly string[]): Hit[] {
  let fenced = false;
  return lines.flatMap((text, index) => {
    if (/^\s*(```|~~~)/.test(text)) fenced = !fenced;
    const messages = checkWords(text, false);
    if (!fenced) {
      messages.push(...checkWords(removeCode(text), true));
      const wrapped = !/^\s*(\||#|<!--|\[[^\]]+\]:)/.test(text);
      if (wrapped && text.length > MARKDOWN_WIDTH && hasBreak(text)) {
        messages.push(`wrap Markdown at ${MARKDOWN_WIDTH} characters; got ${text.length}`);
      }
    }
    return messages.map((message) => createHit(file, index + 1, message, text));
  });
}

/** Whether a line can be wrapped: it has a space before the limit outside of links and code. */
function hasBreak(text: string): boolean {
  const fixed = text.replaceAll(/`[^`]*`|!?\[[^\]]*\]\([^)]*\)/g, (part) => "x".repeat(part.length));
  return /\S\s/.test(fixed.slice(0, MARKDOWN_WIDTH + 1).replace(/^\s*([-*>]|\d+\.)?\s*/, ""));
}

function checkCode(file: string, lines: readonly string[], codeWidth: number): Hit[] {
  return lines.flatMap((text, index) => {
    // A file name is reported once, for the file itself, and not for each import of it.
    const code = text.replace(/\b(from|import\(?)\s*"[#.][^"]*"/, "");
    const messages = TESTS.test(file) ? checkTitle(text) : checkWords(separateWords(code), false);
    // A line that starts with `**` is bold Markdown in a string.
    const comment = /^\s*(?:\/\/|\/\*\*?|\*(?!\*))(.*)$|\s\/\/ (.*)$/.exec(text);
    const prose = comment?.[1] ?? comment?.[2];
    if (prose !== undefined) {
      messages.push(...checkWords(removeCode(prose), true));
      if (TESTS.test(file)) messages.push(...checkWords(removeCode(prose), false));
      if (text.length > codeWidth) messages.push(`wrap comments at ${codeWidth} characters; got ${text.length}`);
    }
    return messages.map((message) => createHit(file, index + 1, message, text));
  });
}

/** Checks the title of a test or of a group of tests, if the line contains one. */
function checkTitle(text: string): string[] {
  const [, call, title] = /(?:\b(test|it|describe)\b[^"`]*|^\s*[\]})]+)\(["`]([^"`]+)/.exec(text) ?? [];
  if (title === undefined) return [];
  const fragment = call === "describe" ? undefined : FRAGMENT.exec(title)?.[0];
  return [...checkWords(title, false), ...(fragment === undefined ? [] : [`a title is a sentence with its subject; got "${fragment} …"`])];
}

function checkWords(text: string, proseOnly: boolean): string[] {
  return RULES.filter((rule) => (rule.proseOnly === true) === proseOnly).flatMap(({ pattern, replacement }) => {
    const found = pattern.exec(text)?.[0];
    return found === undefined ? [] : [`"${found}": use ${replacement}`];
  });
}

function createHit(file: string, line: number, message: string, text: string): Hit {
  return { file, line, message, text: text.trim() };
}

/** `tellStory` and `MAX_STORIES` become "tell Story" and "MAX STORIES". */
function separateWords(text: string): string {
  return text.replaceAll(/(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/g, " ").replaceAll("_", " ");
}

function removeCode(text: string): string {
  return text.replaceAll(/`[^`]*`|"[^"]*"/g, "");
}
