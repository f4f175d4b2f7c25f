/** A keyset page, newest first: rows before `before` (exclusive). */
export interface Page {
  before: number | null;
  limit: number;
}

/** A page of a list that has two orders. */
export interface OrderedPage {
  order: "newest" | "oldest";
  /** The number of the last row of the previous page; null for the first page. */
  after: number | null;
  limit: number;
}
