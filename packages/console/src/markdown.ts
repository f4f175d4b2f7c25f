import type { MarkedToken, Token, Tokens } from "marked";
import { lexMarkdown } from "./markdown-lexer.ts";

/** How a text is rendered. */
export interface MarkdownOptions {
  /** Level of the topmost headings. */
  level: number;
  /** Makes hidden characters of a text visible. */
  show(text: string): string;
}

/** Protocols that a link may open. */
const PROTOCOLS = new Set(["http:", "https:", "mailto:"]);
const MAX_LEVEL = 6;
/** Maximum number of tokens, because many small elements take long to lay out. */
const MAX_TOKENS = 10_000;
/** How long the page does not respond at most while paragraphs are read. */
const SLICE_MS = 8;

/**
 * Renders a text of an agent as elements. All content becomes text nodes, so that nothing of it can run or load. Returns null if the text
 * exceeds a limit, and should be shown as plain text.
 */
export async function renderMarkdown(text: string, { level, show }: MarkdownOptions): Promise<HTMLElement | null> {
  const tokens = await lexMarkdown(text, createPause());
  if (tokens === null) return null;
  const findLevel = createOutline(level);
  let count = 0;

  const toText = (content: string): Text => document.createTextNode(show(content));

  function toNodes(list: readonly Token[]): Node[] {
    count += list.length;
    return count > MAX_TOKENS ? [] : list.flatMap((token) => toNode(token as MarkedToken));
  }

  function toNode(token: MarkedToken): Node | Node[] {
    switch (token.type) {
      case "space":
        return [];
      case "paragraph":
        return createBlock("p", toNodes(token.tokens));
      case "heading": {
        const content = toNodes(token.tokens);
        // A heading without a text would be an empty entry in the outline of a screen reader.
        return isBlank(content) ? content : createBlock(`h${findLevel(token.depth)}`, content);
      }
      case "blockquote":
        return createElement("blockquote", toNodes(token.tokens));
      case "list":
        return createList(token, toNodes);
      case "code":
        return createElement("pre", [createElement("code", [toText(token.text)])]);
      case "table":
        return createTable(token, toNodes);
      case "hr":
      case "br":
        return createElement(token.type);
      case "em":
      case "strong":
      case "del":
        return createElement(token.type, toNodes(token.tokens));
      case "codespan":
        return createElement("code", [toText(token.text)]);
      case "checkbox":
        return toText(token.checked ? "☑ " : "☐ ");
      case "link":
        return createLink(token, toNodes, show);
      case "image":
        // An image would send a request to its host.
        return toText(`${token.text} (${token.href})`);
      case "text":
        return token.tokens === undefined ? toText(token.text) : toNodes(token.tokens);
      case "escape":
        return toText(token.text);
      case "html":
        return token.block ? createBlock("p", [toText(token.raw)]) : toText(token.raw);
      default:
        // Nothing that the agent wrote is left out, for example definitions of links.
        return createBlock("p", [toText(token.raw)]);
    }
  }

  const root = createElement("div", toNodes(tokens));
  root.className = "markdown";
  return count > MAX_TOKENS ? null : root;
}

type ToNodes = (tokens: readonly Token[]) => Node[];

function createList({ ordered, start, items }: Tokens.List, toNodes: ToNodes): HTMLElement {
  const list = createElement(
    ordered ? "ol" : "ul",
    items.map((item) => createBlock("li", toNodes(item.tokens))),
  );
  if (ordered && start !== "" && start !== 1) list.setAttribute("start", String(start));
  return list;
}

function createTable({ header, rows, align }: Tokens.Table, toNodes: ToNodes): HTMLElement {
  const createRow = (cells: readonly Tokens.TableCell[], name: string): HTMLElement =>
    createElement(
      "tr",
      cells.map(({ tokens }, index) => {
        const content = toNodes(tokens);
        const cell = createBlock(isBlank(content) ? "td" : name, content);
        if (cell.localName === "th") cell.setAttribute("scope", "col");
        if (align[index] != null) cell.classList.add(`align-${align[index]}`);
        return cell;
      }),
    );
  const head = createElement("thead", [createRow(header, rows.length === 0 ? "td" : "th")]);
  const body = createElement(
    "tbody",
    rows.map((cells) => createRow(cells, "td")),
  );
  const frame = createElement("div", [createElement("table", [head, body])]);
  frame.className = "scroll";
  return frame;
}

/** Other links stay text with their target. A relative one would refer to a file of the agent, which the console does not serve. */
function createLink({ href, tokens }: Tokens.Link, toNodes: ToNodes, show: MarkdownOptions["show"]): Node | Node[] {
  const content = toNodes(tokens);
  const url = URL.canParse(href) ? new URL(href) : null;
  if (url === null || !PROTOCOLS.has(url.protocol)) return [...content, document.createTextNode(show(` (${href})`))];
  const link = createElement("a", isBlank(content) ? [document.createTextNode(show(url.href))] : content);
  link.setAttribute("href", url.href);
  link.setAttribute("target", "_blank");
  link.setAttribute("rel", "noopener noreferrer");
  link.title = show(url.href);
  return link;
}

function createElement(name: string, content: readonly Node[] = []): HTMLElement {
  const element = document.createElement(name);
  element.append(...content);
  return element;
}

/** Creates an element whose content decides its direction and does not change the order of text around it. */
function createBlock(name: string, content: readonly Node[]): HTMLElement {
  const element = createElement(name, content);
  element.dir = "auto";
  return element;
}

/** Creates a function that lets the page respond whenever a time slice is over. */
function createPause(): () => Promise<void> {
  let end = performance.now() + SLICE_MS;
  return async () => {
    if (performance.now() < end) return;
    await new Promise((resolve) => setTimeout(resolve));
    end = performance.now() + SLICE_MS;
  };
}

const isBlank = (content: readonly Node[]): boolean => content.every(({ textContent }) => (textContent ?? "").trim() === "");

/** Returns a function that maps the depths of headings to levels, so that no level is skipped, whatever depths the text uses. */
function createOutline(level: number): (depth: number) => number {
  const open: number[] = [];
  return (depth) => {
    while (open.length > 0 && (open.at(-1) as number) >= depth) open.pop();
    open.push(depth);
    return Math.min(MAX_LEVEL, level + open.length - 1);
  };
}
