import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { execa } from "execa";
import type { Page } from "playwright-core";
import { openChromium, openContext } from "./open-chromium.ts";

const repository = path.resolve(import.meta.dirname, "../..");

/** A real browser with the page of a client, which is served from a separate origin. */
export interface Browser {
  page: Page;
  origin: string;
  close(): Promise<void>;
}

/** Builds the client as it is published, serves it with the page, and opens the page in Chromium. */
export async function startBrowser(): Promise<Browser> {
  await using cleanup = new AsyncDisposableStack();
  const built = await mkdtemp(path.join(tmpdir(), "bridge-browser-"));
  cleanup.defer(() => rm(built, { recursive: true, force: true }));
  await execa(process.execPath, [path.join(repository, "scripts/build-workspace.ts"), "bridge-client", "--into", built]);

  const server = await serve({
    "/bridge-client/": path.join(built, "bridge-client"),
    "/eventsource-parser/": path.join(repository, "node_modules/eventsource-parser/dist"),
    "/": import.meta.dirname,
  });
  cleanup.defer(() => void server.close());
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const browser = cleanup.adopt(await openChromium(), (opened) => opened.close());
  const page = await (await openContext(browser)).newPage();
  await page.goto(`${origin}/page.html`);
  await page.waitForSelector("html[data-ready]", { state: "attached" });
  const keeping = cleanup.move();
  return { page, origin, close: () => keeping.disposeAsync() };
}

/** Serves directories by the prefix of the path. The first matching prefix applies. */
async function serve(directories: Readonly<Record<string, string>>) {
  const server = createServer((request, response) => {
    const target = request.url ?? "/";
    const [prefix = "", directory = ""] = Object.entries(directories).find(([start]) => target.startsWith(start)) ?? [];
    const type = target.endsWith(".js") ? "text/javascript" : "text/html";
    readFile(path.join(directory, target.slice(prefix.length))).then(
      (bytes) => response.writeHead(200, { "content-type": type }).end(bytes),
      () => response.writeHead(404).end(),
    );
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return server;
}
