import type { Output } from "./output.ts";

/** Returns the first entries of a list, and notes on a terminal that there are more. */
export async function takeSome<T>(entries: AsyncIterable<T>, limit: number, output: Output): Promise<T[]> {
  const taken: T[] = [];
  for await (const entry of entries) {
    if (taken.length === limit) {
      if (output.format === "terminal") output.note(`The first ${limit} entries. To see more, use: --limit ${limit * 10}`);
      break;
    }
    taken.push(entry);
  }
  return taken;
}
