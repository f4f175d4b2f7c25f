import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { dispatchBodySchema } from "../../src/requests/dispatch-schema.ts";

const repository = path.resolve(import.meta.dirname, "../..");
const read = (name: string): string => readFileSync(path.join(repository, name), "utf8");

const readme = read("README.md");
const commands = [...readme.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].flatMap(([, block = ""]) => block.replaceAll("\\\n", "").split("\n"));
const calls = commands.filter((command) => command.startsWith("curl ")).map(readCall);
const routes = Object.entries((parse(read("openapi.yaml")) as { paths: Record<string, object> }).paths).flatMap(([url, operations]) =>
  Object.keys(operations).map((method) => `${method.toUpperCase()} ${url}`),
);
/** Served beside the API and so not part of its description. */
const pages = ["GET /docs"];

test("names files that exist", () => {
  const named = [...readme.matchAll(/(?<![\w/.])(?:\.\/)?((?:docs|examples|scripts|src|test)\/[\w./-]*\w|\.env\.example|openapi\.yaml)/g)];
  const files = named.map(([, file]) => file ?? "");
  expect(files).toEqual(expect.arrayContaining(["docs/callbacks.md", "examples/agents/shell-agent.sh", "openapi.yaml"]));
  expect(files.filter((file) => !existsSync(path.join(repository, file)))).toEqual([]);
});

test("names sections that exist", () => {
  const links = [...readme.matchAll(/\]\(([^)#\s]+)#([^)]+)\)/g)];
  expect(links.length).toBeGreaterThan(3);
  for (const [, page = "", section = ""] of links) {
    const headings = [...read(page).matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) => heading.toLowerCase().replaceAll(" ", "-"));
    expect(headings).toContain(section);
  }
});

test("names npm scripts that exist", () => {
  const { scripts } = JSON.parse(read("package.json")) as { scripts: Record<string, string> };
  const code = [...commands, ...[...readme.matchAll(/`(npm [^`\n]+)`/g)].map(([, command]) => command ?? "")].join("\n");
  const named = [...code.matchAll(/\bnpm (?:run )?([a-z][a-z:]*)/g)]
    .map(([, name]) => name ?? "")
    .filter((name) => !["ci", "rebuild", "install"].includes(name));
  expect(named).toEqual(expect.arrayContaining(["demo", "test", "start"]));
  expect(named.filter((name) => !Object.hasOwn(scripts, name))).toEqual([]);
});

test("shows the receiver as it is", () => {
  expect(readme).toContain(`\n\`\`\`js\n${read("examples/receiver/receiver.js")}\`\`\`\n`);
});

const tableOf = (page: string) =>
  [...page.matchAll(/^\| (`[A-Z]+ \/.*?`) \|/gm)].flatMap(([, cell = ""]) => cell.slice(1, -1).split("` `")).toSorted();

test("its table of routes is the API, but for what is below the gateway", () => {
  const isBelow = (route: string) => route.includes("/gateway/{provider}/");
  expect(tableOf(readme)).toEqual(routes.filter((route) => !isBelow(route)).toSorted());
});

test("the page of the gateway has all its routes", () => {
  expect(tableOf(read("docs/gateway.md"))).toEqual(routes.filter((route) => route.includes("/gateway/")).toSorted());
});

test("its curl commands call routes that exist, with bodies that are dispatches", () => {
  expect(calls.length).toBeGreaterThan(4);
  const patterns = routes.map((route) => new RegExp(`^${route.replace(/\{\w+\}/, "[^/{]+")}$`));
  expect(calls.filter(({ route }) => !patterns.some((pattern) => pattern.test(route)))).toEqual([]);
  const bodies = calls.flatMap(({ body }) => (body === undefined ? [] : [body]));
  expect(bodies.length).toBeGreaterThan(1);
  for (const body of bodies) expect(dispatchBodySchema.safeParse(JSON.parse(body)).error).toBeUndefined();
});

test("every other route that it mentions exists", () => {
  const mentioned = [...readme.matchAll(/`(\/[a-z][\w/{}]*)`/g)].map(([, url]) => `GET ${url}`);
  const directories = ["GET /api", "GET /data", "GET /proc"];
  // A row of the table of runtimes: no route, but what a message may begin with.
  const others = ["GET /command"];
  expect(mentioned.filter((route) => ![...routes, ...pages, ...directories, ...others].includes(route))).toEqual([]);
});

function readCall(command: string): { route: string; body: string | undefined } {
  const [, url = ""] = /http:\/\/127\.0\.0\.1:8787(\/\S*)/.exec(command) ?? [];
  const [, body] = / -d '([^']+)'/.exec(command) ?? [];
  return { route: `${body === undefined ? "GET" : "POST"} ${url}`, body };
}
