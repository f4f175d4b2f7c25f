import type { Domain } from "./domain.ts";

/** Longest signal that must be a whole word, because many other words begin with it: "auth" with "author", "dom" with "domain". */
const WHOLE_WORD_CHARACTERS = 4;

/** How much of a text is read. The worst signals take about 0.4 ms for 1,000 characters, and the event loop waits meanwhile. */
const MAX_CHARACTERS = 200_000;

/** A node of the trie of signals. Each edge is one UTF-16 unit. */
interface Node {
  readonly next: Map<number, Node>;
  /** Indexes of the domains that have the signal ending at this node; empty if no signal ends here. */
  readonly domains: number[];
}

/**
 * Counts the signals of each domain that a text mentions. A signal matches the start of a word or phrase: "scalab" matches "scalability". A
 * short one matches only a word and its plural. Reads the first 200,000 characters of the text, once for all signals, because users can
 * define thousands of them.
 */
export function countMentions(text: string, domains: readonly Domain[]): number[] {
  const lower = text.slice(0, MAX_CHARACTERS).toLowerCase();
  const root = createTrie(domains);
  const found = new Set<Node>();
  for (const { index } of lower.matchAll(/(?<![\p{L}\p{N}])\S/gu)) {
    let node = root.next.get(lower.charCodeAt(index));
    for (let end = index + 1; node !== undefined; end += 1) {
      if (node.domains.length > 0 && !found.has(node) && (end - index > WHOLE_WORD_CHARACTERS || isWordEnd(lower, end))) found.add(node);
      node = node.next.get(lower.charCodeAt(end));
    }
  }
  const counts = domains.map(() => 0);
  for (const node of found) for (const domain of node.domains) counts[domain] = (counts[domain] ?? 0) + 1;
  return counts;
}

function createTrie(domains: readonly Domain[]): Node {
  const root = createNode();
  for (const [index, { trigger_signals }] of domains.entries())
    for (const signal of new Set(trigger_signals)) {
      let node = root;
      for (let at = 0; at < signal.length; at += 1) {
        const unit = signal.charCodeAt(at);
        const next = node.next.get(unit) ?? createNode();
        node.next.set(unit, next);
        node = next;
      }
      node.domains.push(index);
    }
  return root;
}

const createNode = (): Node => ({ next: new Map(), domains: [] });

function isWordEnd(text: string, at: number): boolean {
  const end = /s?(?![\p{L}\p{N}])/uy;
  end.lastIndex = at;
  return end.test(text);
}
