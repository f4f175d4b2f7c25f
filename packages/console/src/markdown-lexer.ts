import { Lexer, type Token, type TokensList } from "marked";

/** Limits of a text, because reading it must not block the page. Longer texts are plain. */
export const MAX_CHARACTERS = 20_000;
const MAX_LINES = 1500;
/** Maximum depth of quotes, lists and emphasis in each other. */
const MAX_DEPTH = 16;
/** Maximum number of paragraphs, headings, cells and items. A short table can have many empty cells. */
const MAX_PARTS = 3000;
/** Maximum number of characters read in all: each level of a nested text is read again. */
const MAX_READ_CHARACTERS = 4 * MAX_CHARACTERS;
/** A longer paragraph stays text. The time to read one grows with its length, times at least the square of its delimiters. */
const MAX_INLINE_CHARACTERS = 3000;
const MAX_DELIMITERS = 100;
const DELIMITERS = /[*_~[]+/g;

/**
 * Reads a text as Markdown. Returns null if it exceeds a limit, and should be shown as plain text. Calls `pause` between the paragraphs, so
 * that the caller can let the page respond.
 */
export async function lexMarkdown(text: string, pause: () => Promise<void> = async () => {}): Promise<Token[] | null> {
  if (text.length > MAX_CHARACTERS || (text.match(/\n/g)?.length ?? 0) > MAX_LINES) return null;
  try {
    return await new BoundedLexer({ gfm: true }).read(text, pause);
  } catch {
    // The text exceeds a limit, or the lexer has a fault. The text is readable without its format.
    return null;
  }
}

/** Throws when a text would take too long to read. */
class BoundedLexer extends Lexer {
  #depth = 0;
  #parts = 0;
  #readCharacters = 0;

  /** Does the same as `lex()`, with pauses. */
  async read(text: string, pause: () => Promise<void>): Promise<Token[]> {
    this.blockTokens(text.replaceAll(/\r\n?/g, "\n"), this.tokens);
    for (const { src, tokens } of this.inlineQueue) {
      this.state.inRawBlock = false;
      this.inlineTokens(src, tokens);
      await pause();
    }
    return this.tokens;
  }

  override blockTokens(source: string, tokens?: Token[] | TokensList, isClipped?: boolean): TokensList {
    this.#countPart();
    return this.#descend(source, () => super.blockTokens(source, tokens as TokensList, isClipped)) as TokensList;
  }

  override inline(source: string, tokens?: Token[]): Token[] {
    this.#countPart();
    return super.inline(source, tokens);
  }

  override inlineTokens(source: string, tokens: Token[] = []): Token[] {
    if (!isLong(source)) return this.#descend(source, () => super.inlineTokens(source, tokens));
    tokens.push({ type: "text", raw: source, text: source });
    return tokens;
  }

  #countPart(): void {
    this.#parts += 1;
    if (this.#parts > MAX_PARTS) throw new RangeError("The text has too many parts.");
  }

  #descend<Tokens>(source: string, read: () => Tokens): Tokens {
    this.#depth += 1;
    this.#readCharacters += source.length;
    if (this.#depth > MAX_DEPTH || this.#readCharacters > MAX_READ_CHARACTERS) throw new RangeError("The text is nested too deeply.");
    const tokens = read();
    this.#depth -= 1;
    return tokens;
  }
}

const isLong = (source: string): boolean =>
  source.length > MAX_INLINE_CHARACTERS || (source.match(DELIMITERS)?.length ?? 0) > MAX_DELIMITERS;
