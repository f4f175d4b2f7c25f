import { lookup } from "node:dns";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import type { HostLookup } from "#contract";
import { openModelProxy } from "../adapters/shared/model-proxy/proxy-server.ts";

/* Forwards requests to the vendor of `proxy.ts`: as the model proxy does, or with a bare `pipe()`. Prints its address and key. */

const [kind, vendorUrl = ""] = process.argv.slice(2);
console.log(JSON.stringify(kind === "proxy" ? await openProxy() : await openPipe()));
process.on("message", () => process.send?.({ cpuMs: (process.cpuUsage().user + process.cpuUsage().system) / 1_000 }));

async function openProxy() {
  const proxy = await openModelProxy({ env: {}, lookup: lookup as HostLookup });
  const lease = proxy.lease({ onCall: () => {}, mayCall: async () => ({ allowed: true }) }, [
    { name: "main", protocol: "anthropic", baseUrl: vendorUrl, secret: "sk-bench" },
  ]);
  return { url: lease.local["main"]?.baseUrl, key: lease.local["main"]?.key };
}

async function openPipe() {
  const server = createServer((incoming, response) => {
    const outgoing = request(`${vendorUrl}${incoming.url}`, { method: incoming.method, headers: incoming.headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      response.flushHeaders();
      answer.pipe(response);
    });
    incoming.pipe(outgoing);
  });
  const listening = Promise.withResolvers<void>();
  server.listen(0, "127.0.0.1", listening.resolve);
  await listening.promise;
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, key: "none" };
}
