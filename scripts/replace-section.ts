/** Replaces the text between `<!-- name -->` and `<!-- /name -->`. Returns a page without these markers unchanged. */
export function replaceSection(page: string, name: string, text: string): string {
  const [begin, end] = [`<!-- ${name} -->`, `<!-- /${name} -->`];
  const [from, to] = [page.indexOf(begin), page.indexOf(end)];
  return from === -1 || to < from ? page : `${page.slice(0, from + begin.length)}\n${text}\n${page.slice(to)}`;
}
