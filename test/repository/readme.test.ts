import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { listInputs } from "#contract";
import { catalog } from "../../adapters/index.ts";
import { createDispatchSchema } from "../../src/requests/dispatch-schema.ts";

const repository = path.resolve(import.meta.dirname, "../..");
const read = (name: string): string => readFileSync(path.join(repository, name), "utf8");

const readme = read("README.md");
const commands = [...readme.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].flatMap(([, block = ""]) => block.replaceAll("\\\n", "").split("\n"));
const calls = commands.filter((command) => command.startsWith("curl ")).map(readCall);
const routes = Object.entries((parse(read("openapi.yaml")) as { paths: Record<string, object> }).paths).flatMap(([url, operations]) =>
  Object.keys(operations).map((method) => `${method.toUpperCase()} ${url}`),
);
/** Pages that Bridge serves and the API description omits. */
const pages = ["GET /docs"];

test("the README has at most 180 lines", () => {
  expect(readme.trimEnd().split("\n").length).toBeLessThanOrEqual(180);
});

test("the README mentions only files that exist", () => {
  const named = [
    ...readme.matchAll(/(?<![\w/.])(?:\.\/)?((?:docs|deploy|examples|scripts|src|test)\/[\w./-]*\w|\.env\.example|openapi\.yaml)/g),
  ];
  const files = named.map(([, file]) => file ?? "");
  expect(files).toEqual(expect.arrayContaining(["docs/callbacks.md", "examples/agents/shell-agent.sh", "openapi.yaml"]));
  expect(files.filter((file) => !existsSync(path.join(repository, file)))).toEqual([]);
});

test("the README links only to sections that exist", () => {
  const links = [...readme.matchAll(/\]\(([^)#\s]+)#([^)]+)\)/g)];
  expect(links.length).toBeGreaterThan(3);
  for (const [, page = "", section = ""] of links) {
    const headings = [...read(page).matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) => heading.toLowerCase().replaceAll(" ", "-"));
    expect(headings).toContain(section);
  }
});

test("the README mentions only npm scripts that exist", () => {
  const { scripts } = JSON.parse(read("package.json")) as { scripts: Record<string, string> };
  const code = [...commands, ...[...readme.matchAll(/`(npm [^`\n]+)`/g)].map(([, command]) => command ?? "")].join("\n");
  const named = [...code.matchAll(/\bnpm (?:run )?([a-z][a-z:]*)/g)]
    .map(([, name]) => name ?? "")
    .filter((name) => !["ci", "rebuild", "install", "pack"].includes(name));
  expect(named).toEqual(expect.arrayContaining(["demo", "test", "start"]));
  expect(named.filter((name) => !Object.hasOwn(scripts, name))).toEqual([]);
});

test("the page about callbacks contains the example receiver, and the README links to it", () => {
  expect(read("docs/callbacks.md")).toContain(`\n\`\`\`js\n${read("examples/receiver/receiver.js")}\`\`\`\n`);
  expect(readme).toContain("](examples/receiver/receiver.js)");
});

const tableOf = (page: string) =>
  [...page.matchAll(/^\| (`[A-Z]+ \/.*?`) \|/gm)].flatMap(([, cell = ""]) => cell.slice(1, -1).split("` `")).toSorted();

test("the reference page lists exactly the routes of the API", () => {
  expect(tableOf(read("docs/routes.md"))).toEqual(routes.toSorted());
});

test("the page about the gateway API lists exactly the routes of the gateway API", () => {
  expect(tableOf(read("docs/gateway.md"))).toEqual(routes.filter((route) => route.includes("/gateway/")).toSorted());
});

test("the curl commands of the README call existing routes with valid dispatches", () => {
  expect(calls.length).toBeGreaterThan(4);
  const patterns = routes.map((route) => new RegExp(`^${route.replace(/\{\w+\}/, "[^/{]+")}$`));
  expect(calls.filter(({ route }) => !patterns.some((pattern) => pattern.test(route)))).toEqual([]);
  const bodies = calls.flatMap(({ body }) => (body === undefined ? [] : [body]));
  expect(bodies.length).toBeGreaterThan(1);
  const dispatchSchema = createDispatchSchema(listInputs(catalog));
  for (const body of bodies) expect(dispatchSchema.safeParse(JSON.parse(body)).error).toBeUndefined();
});

test("the README mentions only routes that exist", () => {
  const mentioned = [...readme.matchAll(/`(\/[a-z][\w/{}]*)`/g)].map(([, url]) => `GET ${url}`);
  const directories = ["GET /api", "GET /data", "GET /proc"];
  expect(mentioned.filter((route) => ![...routes, ...pages, ...directories].includes(route))).toEqual([]);
});

function readCall(command: string): { route: string; body: string | undefined } {
  const [, url = ""] = /http:\/\/127\.0\.0\.1:878\d(\/\S*)/.exec(command) ?? [];
  const [, body] = / -d '([^']+)'/.exec(command) ?? [];
  return { route: `${body === undefined ? "GET" : "POST"} ${url}`, body };
}
