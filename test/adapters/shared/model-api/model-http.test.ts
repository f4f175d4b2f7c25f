import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import type { HostLookup } from "#contract";
import { createModelHttp } from "../../../../adapters/shared/model-api/model-http.ts";

async function open(env: Record<string, string> = {}) {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    seen.push(`${request.headers.host} ${request.url}`);
    response.end("hello");
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const names: string[] = [];
  const lookup: HostLookup = (hostname, { all }, done) => {
    names.push(hostname);
    const found = { address: "127.0.0.1", family: 4 };
    if (all) done(null, [found]);
    else done(null, found.address, found.family);
  };
  const { port } = server.address() as AddressInfo;
  const http = createModelHttp({ env: Object.fromEntries(Object.entries(env).map(([name, value]) => [name, `${value}:${port}`])), lookup });
  onTestFinished(async () => {
    await http.close();
    server.close();
    server.closeAllConnections();
  });
  return { http, port, seen, names };
}

test("the host of an endpoint is looked up by Bridge's lookup", async () => {
  const { http, port, seen, names } = await open();
  expect(await (await http.fetch(`http://model.example:${port}/v1`)).text()).toBe("hello");
  expect(names).toEqual(["model.example"]);
  expect(seen).toEqual([`model.example:${port} /v1`]);
});

test("the host of a proxy is looked up by Bridge's lookup, and the proxy looks up the endpoint", async () => {
  const { http, seen, names } = await open({ HTTP_PROXY: "http://proxy.example" });
  expect(await (await http.fetch("http://model.example/v1")).text()).toBe("hello");
  expect(names).toEqual(["proxy.example"]);
  expect(seen).toEqual(["model.example http://model.example/v1"]);
});
