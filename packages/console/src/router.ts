import { consoleUrl } from "./base-url.ts";

/** The pages, by the first part of their path. */
export const pages = ["overview", "tasks", "task", "new", "approvals", "callbacks", "webhooks", "adapters", "usage", "missing"] as const;
export type PageName = (typeof pages)[number];

/** What a URL of the console names. */
export interface Route {
  page: PageName;
  /** Id of a task; empty on other pages. */
  id: string;
  query: URLSearchParams;
}

/** Parses the part of a URL below `/ui/`, such as `tasks/report-7?event=3`. */
export function parseRoute(relative: string): Route {
  const { pathname, searchParams } = new URL(relative, "http://console/");
  const [first = "", second = "", ...more] = pathname.split("/").filter((part) => part !== "");
  return { page: findPage(first, second, more.length > 0), id: decode(second), query: searchParams };
}

function findPage(first: string, second: string, hasMore: boolean): PageName {
  if (hasMore) return "missing";
  if (first === "") return "overview";
  if (first === "tasks") return second === "" ? "tasks" : "task";
  const isPage = second === "" && first !== "overview" && first !== "task" && (pages as readonly string[]).includes(first);
  return isPage ? (first as PageName) : "missing";
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Returns the URL of a page of the console, such as `tasks` or `tasks/report-7`. */
export const linkTo = (relative: string): string => new URL(relative, consoleUrl).href;

/** Returns the URL of the page of a task. */
export const taskLink = (taskId: string): string => linkTo(`tasks/${encodeURIComponent(taskId)}`);

/** Returns the route of the current URL. */
export const currentRoute = (): Route => parseRoute(location.href.slice(consoleUrl.href.length).split("#", 1)[0] ?? "");

/** Shows another page of the console without loading it again. */
export function navigate(url: string, { replace = false } = {}): void {
  if (replace) history.replaceState(null, "", url);
  else history.pushState(null, "", url);
  dispatchEvent(new PopStateEvent("popstate"));
}

/** Returns the page that a click opens within the console; null if the browser handles the click. */
export function findClickedPage(event: MouseEvent): string | null {
  if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return null;
  const link = event.composedPath().find((target) => target instanceof HTMLAnchorElement);
  if (link === undefined || link.target !== "" || link.hasAttribute("download")) return null;
  return link.href.startsWith(consoleUrl.href) ? link.href : null;
}
