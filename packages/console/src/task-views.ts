/** A named filter of the list of tasks. `query` is that of the page, such as `state=running`. */
export interface View {
  name: string;
  query: string;
}

/** Tasks that have failed since midnight, in the time zone of the browser. */
export const failedToday = "finished=today&state=failed";

/** Views that everyone has. */
export const builtInViews: readonly View[] = [
  { name: "All", query: "" },
  { name: "Running", query: "state=running" },
  { name: "Failed today", query: failedToday },
  { name: "Needs approval", query: "waitingOn=approval" },
  { name: "Dead callbacks", query: "callback=dead" },
];

const MAX_VIEWS = 20;
/** Maximum length of the name of a view. */
export const MAX_VIEW_NAME = 40;

/** Returns the same query for the same filters, in whatever order they were set. */
export function normalizeQuery(query: URLSearchParams): string {
  const sorted = new URLSearchParams([...query].filter(([, value]) => value !== ""));
  sorted.sort();
  return sorted.toString();
}

/** Keeps the views that a person has saved in this browser, for each tenant. */
export function createSavedViews(storage: Pick<Storage, "getItem" | "setItem">, tenant: string) {
  const key = `bridge.views.${tenant}`;
  const list = (): View[] => parseViews(storage.getItem(key));
  const store = (views: readonly View[]): void => storage.setItem(key, JSON.stringify(views));
  return {
    list,
    /** Saves a view. It replaces one with this name, and the oldest one if there are too many. */
    save: (view: View): void => store([...list().filter(({ name }) => name !== view.name), view].slice(-MAX_VIEWS)),
    remove: (name: string): void => store(list().filter((view) => view.name !== name)),
  };
}

function parseViews(text: string | null): View[] {
  try {
    const views: unknown = JSON.parse(text ?? "[]");
    return Array.isArray(views) ? views.filter(isView) : [];
  } catch {
    return [];
  }
}

const isView = (value: unknown): value is View =>
  typeof value === "object" &&
  value !== null &&
  typeof Reflect.get(value, "name") === "string" &&
  typeof Reflect.get(value, "query") === "string";

const HOUR_MS = 3_600_000;

/** Times since when tasks were created or have ended, by their value in the URL. */
export const startsOf: Readonly<Record<string, { name: string; start: (now: number) => number }>> = {
  hour: { name: "Last hour", start: (now) => now - HOUR_MS },
  today: { name: "Today", start: (now) => new Date(now).setHours(0, 0, 0, 0) },
  "7d": { name: "Last 7 days", start: (now) => now - 7 * 24 * HOUR_MS },
  "30d": { name: "Last 30 days", start: (now) => now - 30 * 24 * HOUR_MS },
};

/** The filters of the list of tasks that Bridge applies. */
const filterNames = [
  ...["search", "state", "provider", "agentId", "label", "errorCode", "callback", "waitingOn"],
  ...["q", "idPrefix", "parentTaskId", "root", "createdAfter", "createdBefore", "finishedAfter", "finishedBefore"],
] as const;

/** Filters that can select single child tasks. Other lists show child tasks in the row of their parent. */
const selectsChildren = ["search", "q", "idPrefix", "agentId", "parentTaskId", "root", "waitingOn"] as const;

/** Returns whether the list shows child tasks as separate rows. `children=all` in the URL requests this. */
export const listsChildren = (query: URLSearchParams): boolean =>
  query.get("children") === "all" || selectsChildren.some((name) => (query.get(name) ?? "") !== "");

/** Returns the query of a request for the tasks that the query of the page selects. */
export function toTaskQuery(query: URLSearchParams, now: number): Record<string, string> {
  const since = (name: string): string | undefined => {
    const start = startsOf[query.get(name) ?? ""]?.start(now);
    return start === undefined ? undefined : new Date(start).toISOString();
  };
  const times = { createdAfter: since("created"), finishedAfter: since("finished") };
  const filters = filterNames.map((name) => [name, query.get(name) ?? ""] as const);
  return {
    ...(!listsChildren(query) && { root: "*" }),
    ...Object.fromEntries(Object.entries(times).filter((entry): entry is [string, string] => entry[1] !== undefined)),
    ...Object.fromEntries(filters.filter(([, value]) => value !== "")),
  };
}
