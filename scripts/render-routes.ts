import { parse } from "yaml";

interface Description {
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, { tags: string[]; summary: string; description?: string }>>;
}

/** Renders all routes of `openapi.yaml` as Markdown: one section with one table for each tag. */
export function renderRoutes(openapi: string): string {
  const { tags, paths } = parse(openapi) as Description;
  const routes = Object.entries(paths).flatMap(([url, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({ route: `${method.toUpperCase()} ${url}`, ...operation })),
  );
  return tags
    .map(({ name, description }) => {
      const rows = routes
        .filter((route) => route.tags.includes(name))
        .map(({ route, summary, description: details = "" }) => `| \`${route}\` | ${toCell(`${summary}. ${details}`)} |`);
      const heading = `## ${name[0]?.toUpperCase()}${name.slice(1)}`;
      return [heading, "", description, "", "| route | description |", "|---|---|", ...rows].join("\n");
    })
    .join("\n\n");
}

const toCell = (text: string): string => text.trim().replaceAll(/\s+/g, " ").replaceAll("|", "\\|");
