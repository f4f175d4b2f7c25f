import type { LookupAddress } from "node:dns";
import { isIP } from "node:net";
import { Agent } from "undici";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { createDestinationGuard } from "../../src/network/destination-guard.ts";
import { createDnsCache } from "../../src/network/dns-cache.ts";
import type { Lookup } from "../../src/network/dns-resolver.ts";
import { outlasts } from "../support/outlasts.ts";
import { startReceiver } from "../support/start-receiver.ts";

/** Addresses that no host on the public internet has. */
const specialAddresses = [
  "0.0.0.0",
  "0.1.2.3",
  "10.0.0.1",
  "100.64.0.1",
  "127.0.0.1",
  "127.255.255.254",
  "172.16.0.1",
  "172.31.255.255",
  "192.0.0.1",
  "192.0.2.1",
  "192.88.99.1",
  "192.168.1.1",
  "198.18.0.1",
  "198.51.100.1",
  "203.0.113.1",
  "224.0.0.1",
  "240.0.0.1",
  "255.255.255.255",
  "::",
  "::1",
  "::127.0.0.1",
  "::8.8.8.8",
  "::ffff:127.0.0.1",
  "::ffff:10.0.0.1",
  "::ffff:0:127.0.0.1",
  "64:ff9b::127.0.0.1",
  "64:ff9b::8.8.8.8",
  "64:ff9b:1::1",
  "100::1",
  "100:0:0:1::1",
  "2001::1",
  "2001:db8::1",
  "2002:7f00:1::",
  "3fff::1",
  "4000::1",
  "5f00::1",
  "fc00::1",
  "fd12:3456::1",
  "fec0::1",
  "ff02::1",
];

/** All forms of link-local and metadata addresses. No setting can permit them. */
const forbiddenAddresses = [
  "169.254.169.254",
  "169.254.0.1",
  "100.100.100.200",
  "168.63.129.16",
  "192.0.0.192",
  "fe80::1",
  "febf::1",
  "fd00:ec2::254",
  "fd20:ce::254",
  "::ffff:169.254.169.254",
  "::169.254.169.254",
  "::ffff:0:169.254.169.254",
  "64:ff9b::169.254.169.254",
  "64:ff9b:1::169.254.169.254",
  "64:ff9b:1:a9fe:a9:fe00::",
  "64:ff9b:1:a9:fe:a9fe::",
  "64:ff9b:1:0:a9:fea9:fe00:0",
  "2002:a9fe:a9fe::1",
  "2001:0:a9fe:a9fe::1",
  "2001:0:808:808:0:0:5601:5601",
  "2606:4700::5efe:a9fe:a9fe",
  "2606:4700::200:5efe:a9fe:a9fe",
];

const publicAddresses = [
  "8.8.8.8",
  "1.1.1.1",
  "::ffff:8.8.8.8",
  "2606:4700:4700::1111",
  "2a00:1450::1",
  "172.32.0.1",
  "100.128.0.1",
  "169.253.1.1",
];

/** Hosts of URLs that all resolve to this machine. */
const loopbackForms = [
  "127.0.0.1",
  "127.0.0.1.",
  "127.1",
  "0.0.0.0",
  "0",
  "2130706433",
  "0x7f000001",
  "0x7f.1",
  "0177.0.0.1",
  "017700000001",
  "%31%32%37.0.0.1",
  "１２７.0.0.1",
  "[::1]",
  "[::]",
  "[::127.0.0.1]",
  "[::ffff:127.0.0.1]",
  "[::ffff:7f00:1]",
  "[64:ff9b::7f00:1]",
  "[2002:7f00:1::]",
];

const inUrl = (address: string): string => (isIP(address) === 6 ? `[${address}]` : address);
const asAnswer = (...addresses: string[]): LookupAddress[] => addresses.map((address) => ({ address, family: isIP(address) }));

let receiver: Awaited<ReturnType<typeof startReceiver>>;
beforeAll(async () => {
  receiver = await startReceiver();
});
afterAll(() => receiver.close());

/** POSTs through the guard. Returns the HTTP status, or the code of the rejection. */
async function connect(url: string, options: { allow?: string[]; lookup?: Lookup } = {}): Promise<number | string> {
  const { connector } = createDestinationGuard({
    allow: options.allow ?? [],
    dnsCache: createDnsCache({ resolve: options.lookup ?? noLookup }),
  });
  const agent = new Agent({ connect: connector });
  onTestFinished(() => agent.destroy());
  try {
    const { statusCode, body } = await agent.request({ origin: new URL(url).origin, path: "/", method: "POST", body: "{}" });
    await body.dump();
    return statusCode;
  } catch (error) {
    expect(String(error)).not.toMatch(/\d+\.\d+\.\d+|::/);
    return (error as NodeJS.ErrnoException).code ?? String(error);
  }
}

const noLookup: Lookup = (hostname) => Promise.reject(new Error(`${hostname} must not be looked up`));
const refused = "destination_not_allowed";

describe("the guard of addresses", () => {
  test.each([...specialAddresses, ...forbiddenAddresses])(
    "no connection to %s is opened, neither for a URL that contains it nor for a name that resolves to it",
    async (address) => {
      const before = receiver.connections();
      const guard = createDestinationGuard({ allow: [], dnsCache: createDnsCache({ resolve: noLookup }) });
      for (const scheme of ["http", "https"]) {
        const literal = `${scheme}://${inUrl(address)}:${receiver.port}/`;
        expect(guard.checkUrl(literal)).not.toBeNull();
        expect(await connect(literal)).toBe(refused);
        const named = `${scheme}://receiver.example:${receiver.port}/`;
        expect(await connect(named, { lookup: async () => asAnswer(address) })).toBe(refused);
        expect(await connect(named, { lookup: async () => asAnswer("8.8.8.8", address) })).toBe(refused);
      }
      expect(receiver.connections()).toBe(before);
    },
  );

  test.each(forbiddenAddresses)("the guard of addresses rejects %s whatever is allowed", async (address) => {
    const allow = ["0.0.0.0/0", "::/0", address, "receiver.example", "*.example"];
    const guard = createDestinationGuard({ allow, dnsCache: createDnsCache({ resolve: noLookup }) });
    expect(guard.checkUrl(`https://${inUrl(address)}/`)).toMatch(/link-local or cloud metadata/);
    expect(await connect(`https://${inUrl(address)}/`, { allow })).toBe(refused);
    expect(await connect("https://receiver.example/", { allow, lookup: async () => asAnswer(address) })).toBe(refused);
  });

  test.each(["metadata.google.internal", "metadata.google.internal.", "METADATA.google.internal", "metadata.goog"])(
    "the guard of addresses rejects %s whatever is allowed",
    async (host) => {
      const allow = ["0.0.0.0/0", "*.internal", "metadata.google.internal", "metadata.goog"];
      expect(createDestinationGuard({ allow }).checkUrl(`http://${host}/`)).toMatch(/link-local or cloud metadata/);
      expect(await connect(`http://${host}:${receiver.port}/`, { allow, lookup: async () => asAnswer("127.0.0.1") })).toBe(refused);
    },
  );

  test.each(publicAddresses)("the guard of addresses permits %s over https", (address) => {
    expect(createDestinationGuard({ allow: [] }).checkUrl(`https://${inUrl(address)}/`)).toBeNull();
  });

  test.each(publicAddresses)("the guard of addresses rejects %s over http unless it is allowed", async (address) => {
    expect(createDestinationGuard({ allow: [] }).checkUrl(`http://${inUrl(address)}/`)).toMatch(/https:\/\/.*BRIDGE_CALLBACK_ALLOW/);
    expect(await connect(`http://${inUrl(address)}/`)).toBe(refused);
    expect(createDestinationGuard({ allow: [address] }).checkUrl(`http://${inUrl(address)}/`)).toBeNull();
  });
});

describe("the guard of host spellings", () => {
  test.each(loopbackForms)("the guard of host spellings rejects %s at dispatch and at connect", async (host) => {
    const before = receiver.connections();
    const guard = createDestinationGuard({ allow: [] });
    for (const scheme of ["http", "https"]) {
      expect(guard.checkUrl(`${scheme}://${host}:${receiver.port}/`)).toMatch(/BRIDGE_CALLBACK_ALLOW/);
      expect(await connect(`${scheme}://${host}:${receiver.port}/`)).toBe(refused);
    }
    expect(receiver.connections()).toBe(before);
  });

  test.each(["localhost", "localhost.", "LOCALHOST", "app.localhost"])(
    "%s is rejected at dispatch, and its address is rejected when it is connected to",
    async (host) => {
      expect(createDestinationGuard({ allow: [] }).checkUrl(`https://${host}/`)).toMatch(/BRIDGE_CALLBACK_ALLOW/);
      expect(await connect(`https://${host}:${receiver.port}/`, { lookup: async () => asAnswer("127.0.0.1") })).toBe(refused);
    },
  );

  test("the system's resolver is used by default", async () => {
    const agent = new Agent({ connect: createDestinationGuard({ allow: [] }).connector });
    onTestFinished(() => agent.destroy());
    await expect(agent.request({ origin: `https://localhost:${receiver.port}`, path: "/", method: "GET" })).rejects.toMatchObject({
      code: refused,
    });
  });
});

describe("checkUrl", () => {
  test.each([
    ["", "absolute URL"],
    ["/hook", "absolute URL"],
    ["receiver.example/hook", "absolute URL"],
    ["http://", "absolute URL"],
    ["https://[fe80::1%25eth0]/", "absolute URL"],
    ["https://999.1.1.1/", "absolute URL"],
    ["https://receiver.example:65536/", "absolute URL"],
    ["ftp://receiver.example/", "begin with https://"],
    ["file:///etc/passwd", "begin with https://"],
    ["javascript:alert(1)", "begin with https://"],
    ["https://user:secret@receiver.example/", "user name or a password"],
    ["https://user@receiver.example/", "user name or a password"],
    ["https://:secret@receiver.example/", "user name or a password"],
    ["https://./", "contain a host"],
    ["https://receiver.example:0/", "port 0"],
    ["http://receiver.example/", "add receiver.example to BRIDGE_CALLBACK_ALLOW"],
    ["http://10.0.0.1/", "add 10.0.0.1 to BRIDGE_CALLBACK_ALLOW"],
    ["https://[fd00::1]:8443/", "add fd00::1 to BRIDGE_CALLBACK_ALLOW"],
  ])("%s: %s", (url, reason) => expect(createDestinationGuard({ allow: [] }).checkUrl(url)).toContain(reason));

  test.each([
    ["http://receiver.example/", ["receiver.example"]],
    ["http://RECEIVER.example./", ["receiver.example"]],
    ["http://receiver.example:8080/", ["Receiver.Example"]],
    ["http://a.receiver.example/", ["*.receiver.example"]],
    ["http://a.b.receiver.example/", ["*.receiver.example"]],
    ["http://localhost:3000/", ["localhost"]],
    ["http://localhost:3000/", ["127.0.0.0/8"]],
    ["http://receiver.example/", ["10.0.0.0/8"]],
    ["http://10.1.2.3/", ["10.0.0.0/8"]],
    ["http://[::ffff:10.1.2.3]/", ["10.0.0.0/8"]],
    ["http://10.1.2.3/", ["::ffff:10.0.0.0/104"]],
    ["https://10.1.2.3/", ["10.1.2.3"]],
    ["https://[fd00::7]/", ["fd00::/8"]],
    ["https://receiver.example/", []],
    ["https://receiver.example:8443/a?b=c#d", []],
  ])("%s passes with %j allowed", (url, allow) => expect(createDestinationGuard({ allow }).checkUrl(url)).toBeNull());

  test.each([
    ["http://receiver.example/", ["*.receiver.example"]],
    ["http://evilreceiver.example/", ["*.receiver.example", "receiver.example"]],
    ["http://receiver.example.evil.example/", ["receiver.example"]],
    ["http://11.0.0.1/", ["10.0.0.0/8"]],
    ["https://[64:ff9b::10.0.0.1]/", ["10.0.0.0/8"]],
  ])("%s is rejected with %j allowed", (url, allow) => expect(createDestinationGuard({ allow }).checkUrl(url)).not.toBeNull());
});

describe("checkDestination", () => {
  const check = (url: string, allow: string[], lookup: Lookup = noLookup) =>
    createDestinationGuard({ allow, dnsCache: createDnsCache({ resolve: lookup }) }).checkDestination(url, "default", 5000);
  const answer =
    (...addresses: string[]): Lookup =>
    async () =>
      asAnswer(...addresses);
  const failWith =
    (code: string): Lookup =>
    async () => {
      throw Object.assign(new Error(`getaddrinfo ${code}`), { code });
    };

  test.each<[url: string, allow: string[], lookup: Lookup]>([
    ["https://mcp.example/", [], answer("8.8.8.8", "2606:4700:4700::1111")],
    ["HTTPS://MCP.example:8443?a=b", [], answer("8.8.8.8")],
    ["https://mcp.example", [], answer("8.8.8.8")],
    ["https://mcp.example./#part", [], answer("8.8.8.8")],
    ["http://mcp.example/", ["mcp.example"], answer("10.0.0.1")],
    ["http://mcp.example/", ["*.example"], answer("8.8.8.8", "fd00::1")],
    ["http://mcp.example/", ["10.0.0.0/8"], answer("10.0.0.1", "::ffff:10.0.0.2")],
    ["https://mcp.example/", ["10.0.0.0/8"], answer("10.0.0.1", "8.8.8.8")],
    ["http://localhost:6379/", ["127.0.0.0/8", "::1"], answer("127.0.0.1", "::1")],
    ["https://8.8.8.8/", [], noLookup],
    ["http://10.1.2.3:80/", ["10.0.0.0/8"], noLookup],
    ["https://[fd00::7]:443/", ["fd00::/8"], noLookup],
  ])("%s passes with %j allowed", async (url, allow, lookup) => expect(await check(url, allow, lookup)).toBeNull());

  test.each<[url: string, allow: string[], lookup: Lookup]>([
    ["http://localhost:6379/", ["10.0.0.0/8"], answer("127.0.0.1")],
    ["http://localhost:6379/", ["127.0.0.0/8"], answer("::1", "127.0.0.1")],
    ["http://mcp.example/", ["10.0.0.0/8"], answer("10.0.0.1", "11.0.0.1")],
    ["http://mcp.example/", ["10.0.0.0/8"], answer("8.8.8.8")],
    ["https://mcp.example/", [], answer("8.8.8.8", "192.168.1.1")],
    ["https://mcp.example/", ["mcp.example", "0.0.0.0/0"], answer("169.254.169.254")],
    ["https://mcp.example/", ["mcp.example", "::/0"], answer("8.8.8.8", "fe80::1%eth0")],
  ])("%s is rejected with %j allowed, and the message contains no address", async (url, allow, lookup) => {
    const reason = await check(url, allow, lookup);
    expect(reason).toMatch(/^names a host with an address that is not permitted; .*BRIDGE_CALLBACK_ALLOW$/);
    expect(reason).not.toMatch(/\d+\.\d+\.\d+|::/);
  });

  test.each([...specialAddresses, ...forbiddenAddresses])("a name that resolves to %s is rejected", async (address) => {
    for (const addresses of [[address], ["8.8.8.8", address]]) {
      expect(await check("https://mcp.example/", [], answer(...addresses))).toContain("not permitted");
      expect(await check("http://mcp.example/", ["10.255.255.254"], answer(...addresses))).toContain("not permitted");
    }
  });

  test.each([
    ["http://10.0.0.1/", "add 10.0.0.1 to BRIDGE_CALLBACK_ALLOW"],
    ["http://mcp.example/", "begin with https://"],
    ["https://user@mcp.example/", "user name or a password"],
    ["https://localhost/", "add localhost to BRIDGE_CALLBACK_ALLOW"],
    ["http://169.254.169.254/", "link-local or cloud metadata"],
    ["https://metadata.google.internal/", "link-local or cloud metadata"],
  ])("faults that checkUrl finds need no lookup: %s", async (url, reason) => {
    expect(await check(url, [])).toContain(reason);
  });

  test.each([
    ["https://010.0.0.1/", "https://8.0.0.1"],
    ["https://134744072/", "https://8.8.8.8"],
    ["https://8.8.2056/", "https://8.8.8.8"],
    ["https://%38.8.8.8/", "https://8.8.8.8"],
    ["https://mcp.example\\@10.0.0.1/", "https://mcp.example"],
    ["https:\\\\mcp.example/", "https://mcp.example"],
    ["https:mcp.example/", "https://mcp.example"],
    ["https:///mcp.example/", "https://mcp.example"],
    ["https://mcp。example/", "https://mcp.example"],
    ["https://[2606:4700:4700:0::1111]/", "https://[2606:4700:4700::1111]"],
  ])("%s is rejected because programs parse it differently", async (url, plain) => {
    expect(createDestinationGuard({ allow: [] }).checkUrl(url)).toBeNull();
    expect(await check(url, [])).toBe(`must begin with ${plain}, the normalized spelling of its host`);
  });

  test.each<[what: string, lookup: Lookup, reason: string]>([
    ["without an address", answer(), "does not resolve"],
    ["that does not exist", failWith("ENOTFOUND"), "does not resolve"],
    ["whose name server fails", failWith("EAI_AGAIN"), "try again later"],
  ])("a host %s is rejected with a message", async (_, lookup, reason) => {
    expect(await check("https://mcp.example/", ["mcp.example"], lookup)).toContain(reason);
  });

  test("a resolver that hangs is awaited until the time limit, and is not called without time left", async () => {
    let asked = 0;
    const lookup: Lookup = () => {
      asked += 1;
      return new Promise(() => {});
    };
    const guard = createDestinationGuard({ allow: [], dnsCache: createDnsCache({ resolve: lookup }) });
    const check = async () => expect(await guard.checkDestination("https://mcp.example/", "default", 30)).toContain("try again later");
    expect(await outlasts(check, 28)).toBe(true);
    expect(await guard.checkDestination("https://other.example/", "default", 0)).toContain("try again later");
    expect(asked).toBe(1);
  });

  test("the system's resolver is used by default", async () => {
    const guard = createDestinationGuard({ allow: ["10.0.0.0/8"] });
    expect(guard.checkUrl("http://localhost:6379/")).toBeNull();
    expect(await guard.checkDestination("http://localhost:6379/", "default", 5000)).toContain("not permitted");
  });
});

describe("the connector", () => {
  const loopback: Lookup = async () => asAnswer("127.0.0.1");

  test.each([
    ["by name", ["receiver.example"]],
    ["by suffix", ["*.example"]],
    ["by CIDR", ["127.0.0.0/8"]],
    ["by address", ["127.0.0.1"]],
  ])("the connector connects over http to a host that is allowed %s", async (_, allow) => {
    expect(await connect(`http://receiver.example:${receiver.port}/`, { allow, lookup: loopback })).toBe(200);
  });

  test.each([["127.0.0.1"], ["127.0.0.0/8"], ["::ffff:127.0.0.0/104"]])(
    "the connector connects without a lookup to a permitted address (%s) in the URL, also in its IPv4-mapped form",
    async (entry) => {
      expect(await connect(`http://127.0.0.1:${receiver.port}/`, { allow: [entry] })).toBe(200);
      expect(await connect(`http://[::ffff:127.0.0.1]:${receiver.port}/`, { allow: [entry] })).toBe(200);
    },
  );

  test("the connector rejects a name of which one address is outside the allowed CIDR", async () => {
    const before = receiver.connections();
    const url = `http://receiver.example:${receiver.port}/`;
    expect(await connect(url, { allow: ["10.0.0.0/8"], lookup: loopback })).toBe(refused);
    expect(await connect(url, { allow: ["127.0.0.0/8"], lookup: async () => asAnswer("127.0.0.1", "10.0.0.1") })).toBe(refused);
    // Over http even a public address needs to be allowed.
    expect(await connect(url, { allow: ["127.0.0.0/8"], lookup: async () => asAnswer("8.8.8.8") })).toBe(refused);
    expect(receiver.connections()).toBe(before);
  });

  test("the connector rejects a name that resolves differently after the check", async () => {
    const before = receiver.connections();
    const answers = [asAnswer("8.8.8.8"), asAnswer("127.0.0.1")];
    const lookup: Lookup = async () => answers.shift() ?? asAnswer("127.0.0.1");
    const url = `https://rebinding.example:${receiver.port}/`;
    expect(createDestinationGuard({ allow: [], dnsCache: createDnsCache({ resolve: lookup }) }).checkUrl(url)).toBeNull();
    expect(await lookup("rebinding.example")).toEqual(asAnswer("8.8.8.8"));
    expect(await connect(url, { lookup })).toBe(refused);
    expect(receiver.connections()).toBe(before);
  });

  test("the connector ignores zone ids of the resolver", async () => {
    const answer = [{ address: "fe80::1%eth0", family: 6 }];
    expect(await connect("https://receiver.example/", { allow: ["receiver.example"], lookup: async () => answer })).toBe(refused);
  });

  test("the connector reports a name without addresses and a failing resolver as DNS errors", async () => {
    expect(await connect("https://receiver.example/", { lookup: async () => [] })).toBe("ENOTFOUND");
    const failing: Lookup = () => Promise.reject(Object.assign(new Error("try again"), { code: "EAI_AGAIN" }));
    expect(await connect("https://receiver.example/", { lookup: failing })).toBe("EAI_AGAIN");
  });

  test("the connector shares one lookup between concurrent connections", async () => {
    let asked = 0;
    const lookup: Lookup = async () => {
      asked += 1;
      return asAnswer("127.0.0.1");
    };
    const agent = new Agent({
      connect: createDestinationGuard({ allow: ["receiver.example"], dnsCache: createDnsCache({ resolve: lookup }) }).connector,
    });
    onTestFinished(() => agent.destroy());
    const post = () =>
      agent.request({ origin: `http://receiver.example:${receiver.port}`, path: "/", method: "POST" }).then(({ body }) => body.dump());
    await Promise.all(Array.from({ length: 8 }, post));
    expect(asked).toBe(1);
  });
});
