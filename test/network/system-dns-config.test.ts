import { renameSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { readSystemDnsConfig } from "../../src/network/system-dns-config.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

async function namesOf({ hosts = "", resolver = "" }) {
  const directory = await temporaryDirectory();
  const hostsFile = path.join(directory, "hosts");
  const resolverFile = path.join(directory, "resolv.conf");
  writeFileSync(hostsFile, hosts);
  writeFileSync(resolverFile, resolver);
  return { hostsFile, resolverFile, names: readSystemDnsConfig({ hostsFile, resolverFile }) };
}

test("all addresses of a name in the hosts file are returned, in the order of the file", async () => {
  const hosts = `# a comment
127.0.0.1\tlocalhost
::1 localhost ip6-localhost
10.0.0.7  Database db # the old one
10.0.0.8 db
10.0.0.7 db
fe80::1%lo0 localhost
nonsense somewhere
`;
  const { names } = await namesOf({ hosts });
  expect(names.findHostAddresses("localhost")).toEqual(["127.0.0.1", "::1"]);
  expect(names.findHostAddresses("localhost.")).toEqual(["127.0.0.1", "::1"]);
  expect(names.findHostAddresses("DATABASE")).toEqual(["10.0.0.7"]);
  expect(names.findHostAddresses("db")).toEqual(["10.0.0.8", "10.0.0.7"]);
  expect(names.findHostAddresses("somewhere")).toEqual([]);
});

const kubernetes = "nameserver 10.96.0.10\nsearch team.svc.cluster.local svc.cluster.local cluster.local\noptions ndots:5 timeout:2\n";
test.each([
  ["", "orchestrator", ["orchestrator"]],
  ["search corp.example.", "orchestrator", ["orchestrator.corp.example", "orchestrator"]],
  ["search corp.example", "a.example", ["a.example", "a.example.corp.example"]],
  ["search corp.example", "a.example.", ["a.example."]],
  ["domain corp.example", "a", ["a.corp.example", "a"]],
  ["domain corp.example\nsearch a.test b.test", "a", ["a.a.test", "a.b.test", "a"]],
  ["search corp.example\noptions ndots:0", "a", ["a", "a.corp.example"]],
  [
    kubernetes,
    "orchestrator.default.svc",
    [
      "orchestrator.default.svc.team.svc.cluster.local",
      "orchestrator.default.svc.svc.cluster.local",
      "orchestrator.default.svc.cluster.local",
      "orchestrator.default.svc",
    ],
  ],
  [
    kubernetes,
    "a.b.c.d.e.example",
    [
      "a.b.c.d.e.example",
      "a.b.c.d.e.example.team.svc.cluster.local",
      "a.b.c.d.e.example.svc.cluster.local",
      "a.b.c.d.e.example.cluster.local",
    ],
  ],
])("with resolv.conf %j the name %s is completed to %j", async (resolver, name, candidates) => {
  expect((await namesOf({ resolver })).names.listCandidates(name)).toEqual(candidates);
});

test("changed and replaced files are read again, and missing files count as empty", async () => {
  const { hostsFile, resolverFile, names } = await namesOf({ hosts: "10.0.0.1 a", resolver: "search one.example" });
  expect(names.findHostAddresses("a")).toEqual(["10.0.0.1"]);
  writeFileSync(`${hostsFile}.new`, "10.0.0.22 a");
  renameSync(`${hostsFile}.new`, hostsFile);
  writeFileSync(resolverFile, "search another.example");
  expect(names.findHostAddresses("a")).toEqual(["10.0.0.22"]);
  expect(names.listCandidates("a")).toEqual(["a.another.example", "a"]);
  renameSync(hostsFile, `${hostsFile}.old`);
  renameSync(resolverFile, `${resolverFile}.old`);
  expect(names.findHostAddresses("a")).toEqual([]);
  expect(names.listCandidates("a")).toEqual(["a"]);
});
