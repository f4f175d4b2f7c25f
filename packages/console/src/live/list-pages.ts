import type { Api, Page } from "../api.ts";

/** Options of a list of several pages. */
export interface ListPagesOptions {
  pages: number;
  /** Items of a page, at most 200. */
  pageLength: number;
  signal: AbortSignal;
}

/** Requests the first pages of a list as one page. */
export async function listPages<T>(
  api: Api,
  path: string,
  query: Record<string, string>,
  { pages, pageLength, signal }: ListPagesOptions,
): Promise<Page<T>> {
  const data: T[] = [];
  let cursor: string | undefined;
  for (let count = 0; count < pages; count += 1) {
    const page: Page<T> = await api.list<T>(path, { ...query, limit: pageLength, cursor }, { signal });
    data.push(...page.data);
    if (page.meta.nextCursor === null) return { data, meta: page.meta };
    cursor = page.meta.nextCursor;
  }
  return { data, meta: { nextCursor: cursor ?? null } };
}
