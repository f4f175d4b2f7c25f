import { html, type PropertyValues, type TemplateResult } from "lit";
import { BridgeElement } from "../element.ts";
import { showHidden } from "../format.ts";
import { plainText } from "../plain-text.ts";
import { longText } from "./long-text.ts";

/** Texts up to this length are rendered in the paint that shows them, because a second paint costs more. */
const SHORT_CHARACTERS = 500;
/** The code that renders Markdown; null until the first text is shown, and if it could not be loaded. */
let code: Promise<typeof import("../markdown.ts") | null> | null = null;

async function loadCode(): Promise<typeof import("../markdown.ts") | null> {
  code ??= import("../markdown.ts").catch(() => null);
  const loaded = await code;
  // The next text tries to load it again.
  if (loaded === null) code = null;
  return loaded;
}

/** Shows a text of an agent with its format, or as plain text until it is complete, if it is long, or if the person chose so. */
class MarkdownText extends BridgeElement {
  static override properties = { text: { attribute: false }, level: { attribute: false }, isComplete: { attribute: false } };
  declare text: string;
  /** Level of its topmost headings. */
  declare level: number;
  declare isComplete: boolean;
  /** The text that was last rendered, and its elements; null while they are rendered, and if they cannot be. */
  #rendered: { text: string; element: HTMLElement | null } = { text: "", element: null };
  #unsubscribe: () => void = () => {};
  /** Blocks that scroll can be reached with the keyboard. */
  #resized = new ResizeObserver((entries) => {
    for (const { target } of entries) {
      if (target.scrollWidth > target.clientWidth || target.scrollHeight > target.clientHeight) target.setAttribute("tabindex", "0");
      else target.removeAttribute("tabindex");
    }
  });

  override connectedCallback(): void {
    super.connectedCallback();
    this.#unsubscribe = plainText.subscribe(() => this.requestUpdate());
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#unsubscribe();
    this.#resized.disconnect();
    this.#rendered = { text: "", element: null };
  }

  protected override willUpdate(_changed: PropertyValues): void {
    if (!this.isComplete || plainText.isOn || this.#rendered.text === this.text) return;
    this.#rendered = { text: this.text, element: null };
    void this.#renderMarkdown();
  }

  async #renderMarkdown(): Promise<void> {
    const rendered = this.#rendered;
    // The text is readable without this file, for example while Bridge is upgraded.
    const loaded = await loadCode();
    // A page with many long texts renders each in a separate task, so that it can respond in between.
    if (rendered.text.length > SHORT_CHARACTERS) await new Promise((resolve) => setTimeout(resolve));
    const element = await loaded?.renderMarkdown(rendered.text, { level: this.level, show: showHidden });
    if (element == null || rendered !== this.#rendered) return;
    rendered.element = element;
    this.#resized.disconnect();
    for (const block of element.querySelectorAll("pre, .scroll")) this.#resized.observe(block);
    this.requestUpdate();
  }

  protected override render(): TemplateResult {
    const { text, element } = this.#rendered;
    if (!this.isComplete || plainText.isOn || text !== this.text || element === null)
      return longText(this.text, { showsEnd: !this.isComplete });
    return html`${element}`;
  }
}

customElements.define("bridge-markdown-text", MarkdownText);

/** Shows a text of an agent, which may contain Markdown. `level` is the level of its topmost headings. */
export const markdownText = (text: string, { level, isComplete = true }: { level: number; isComplete?: boolean }): TemplateResult =>
  html`<bridge-markdown-text .text=${text} .level=${level} .isComplete=${isComplete}></bridge-markdown-text>`;
