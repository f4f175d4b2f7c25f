import { domains, overrideDomains, readInput, readSettings } from "bridge-council";
import { describe, expect, test } from "vitest";
import { domainsOf, findExpert } from "../../src/domains/find-expert.ts";
import { composeOpeningPrompt } from "../../src/prompts/prompts.ts";

const payments = {
  name: "Payments",
  expert: "Payments Engineer",
  focus: ["double charges"],
  standards: ["PCI DSS 4.0"],
  instructions: "Follow each charge in {scope}.",
  signals: ["Chargeback"],
};
const given = { scope: "12 files", task_description: "Review it.", task_type: "review" };
const read = (custom_domains: unknown) => readInput({ ...given, custom_domains }, "session", { needsDomains: false, maxProviders: 10 });

function inputOf(custom_domains: unknown) {
  const parsed = read(custom_domains);
  if ("faults" in parsed) throw new Error(JSON.stringify(parsed.faults));
  return parsed.input;
}

describe("the domains of a dispatch", () => {
  test("instructions keep the words in braces that are no placeholders", () => {
    const input = inputOf([{ name: "payments", instructions: "Follow {scope}, {constructor}, {toString} and {amount}." }]);
    const prompt = composeOpeningPrompt(findExpert("payments", input.registry), input);
    expect(prompt).toContain("\nFollow 12 files, {constructor}, {toString} and {amount}.\n");
  });

  test("a new domain has its own expert, and is found by its signals", () => {
    const { registry } = inputOf([payments]);
    const expert = {
      ...{ title: "Payments Engineer", tier: "exact", focusAreas: ["double charges"], standards: ["PCI DSS 4.0"] },
      template: "Follow each charge in {scope}.",
    };
    expect(findExpert("payments", registry)).toMatchObject(expert);
    expect(findExpert("chargeback", registry)).toMatchObject({ ...expert, domain: "chargeback" });
    expect(domainsOf("Two CHARGEBACKS at once", 4, registry)).toEqual(["payments"]);
    expect(registry).toHaveLength(27);
  });

  test("a new domain with few fields gets the values of an expert that Bridge creates for an unknown domain", () => {
    const { registry } = inputOf([{ name: "bee-keeping", signals: ["hive"] }]);
    const { tier: _, from: __, ...unknown } = findExpert("bee-keeping", domains);
    expect(findExpert("bee-keeping", registry)).toEqual({ ...unknown, tier: "exact", from: ["bee-keeping"] });
  });

  test("a definition with the name of a built-in domain overrides only the fields that it sets", () => {
    const { registry } = inputOf([{ name: "security", focus: ["tenant isolation"] }]);
    const builtIn = findExpert("security", domains);
    expect(findExpert("security", registry)).toEqual({ ...builtIn, focusAreas: ["tenant isolation"] });
    expect(registry.map(({ name }) => name)).toEqual(domains.map(({ name }) => name));
    const silent = inputOf([{ name: "security", signals: [] }]).registry;
    expect(domainsOf("Review the OAuth login", 4, silent)).not.toContain("security");
  });

  test("new domains precede built-in ones that a text mentions equally often", () => {
    const { registry } = inputOf([{ name: "identity", signals: ["login"] }]);
    expect(domainsOf("The login", 2, registry)).toEqual(["identity", "security"]);
  });

  test("definitions of a dispatch override those of a workspace, and both leave the built-in ones unchanged", () => {
    const before = structuredClone(domains);
    const { customDomains } = readSettings(JSON.stringify({ custom_domains: [payments, { name: "api", expert: "Workspace API" }] }));
    const dispatched = inputOf([{ name: "payments", expert: "Dispatch Payments" }]);
    const registry = overrideDomains(overrideDomains(domains, customDomains), dispatched.customDomains);
    expect(findExpert("payments", registry)).toMatchObject({ title: "Dispatch Payments", focusAreas: ["double charges"] });
    expect(findExpert("api", registry).title).toBe("Workspace API");
    expect(domains).toEqual(before);
  });

  test.each([
    ["null", null, "custom_domains: must be a list of at most 50 domains; got null"],
    ["too many", Array(51).fill(payments), /^custom_domains: must be a list of at most 50 domains; got \[\{"name":"Payments".{60,80}…$/],
    ["a name without a definition", ["security"], 'custom_domains.0: must be an object with a name; got "security"'],
    ["no name", [{ expert: "X" }], "custom_domains.0.name: must be 1 to 64 letters, digits, spaces or - _ / + ."],
    ["a name that is a prompt", [{ ...payments, name: "x\nIgnore" }], /^custom_domains\.0\.name: must be 1 to 64/],
    ["the reserved name", [{ ...payments, name: "cross-domain" }], /^custom_domains\.0\.name: is reserved/],
    ["only a name", [{ name: "x" }], /^custom_domains\.0: defines only a name; add expert, focus,/],
    ["one name twice", [payments, { ...payments, name: "PAYMENTS" }], /^custom_domains\.1\.name: defines "payments" a second time/],
    ["an unknown field", [{ ...payments, title: "X" }], "custom_domains.0.title: is not a field of this input"],
    ["a title of two lines", [{ ...payments, expert: "a\nb" }], /^custom_domains\.0\.expert: must be one line .*; got "a\\nb"$/],
    ["a long title", [{ ...payments, expert: "x".repeat(101) }], /^custom_domains\.0\.expert: must be one line of 1 to 100/],
    ["an empty focus", [{ ...payments, focus: [] }], "custom_domains.0.focus: must be a list of 1 to 20 texts; got []"],
    ["a focus that is a text", [{ ...payments, focus: "x" }], 'custom_domains.0.focus: must be a list of 1 to 20 texts; got "x"'],
    ["a long standard", [{ ...payments, standards: ["x".repeat(201)] }], /^custom_domains\.0\.standards\.0: must be one line of 1 to 200/],
    [
      "long instructions",
      [{ ...payments, instructions: "x".repeat(4001) }],
      /^custom_domains\.0\.instructions: must be a text of 1 to 4000/,
    ],
    ["an empty signal", [{ ...payments, signals: [" "] }], 'custom_domains.0.signals.0: must be one line of 1 to 40 characters; got ""'],
    ["a long signal", [{ ...payments, signals: ["x".repeat(41)] }], /^custom_domains\.0\.signals\.0: must be one line of 1 to 40/],
    ["a signal that is a number", [{ ...payments, signals: [7] }], /^custom_domains\.0\.signals\.0: .*; got 7$/],
    ["too many signals", [{ ...payments, signals: Array(101).fill("x") }], /^custom_domains\.0\.signals: must be a list of 0 to 100 words/],
  ])("the domains of a dispatch rejects %s, and names the field and the value", (_, custom, fault) => {
    const parsed = read(custom);
    const faults = "faults" in parsed ? parsed.faults.map(({ path, message }) => `${path}: ${message}`) : [];
    expect(faults).toEqual([typeof fault === "string" ? fault : expect.stringMatching(fault)]);
  });
});

describe("the domains of a workspace", () => {
  test("a valid one applies although another one has a fault, which is reported", () => {
    const { customDomains, fault } = readSettings(
      JSON.stringify({ custom_domains: [{ name: "x", title: "X" }, { name: "y", focus: 7 }, payments] }),
    );
    expect(customDomains).toEqual([{ ...payments, name: "payments", signals: ["chargeback"] }]);
    expect(fault).toBe(
      ".bridge-settings.json: custom_domains.0.title is not a field of a domain. This domain is not used. custom_domains.1.focus must be a list of 1 to 20 texts; got 7. This domain is not used.",
    );
  });

  test("a value that is no list is reported", () => {
    const { customDomains, fault } = readSettings('{"custom_domains": {"x": {}}}');
    expect(customDomains).toEqual([]);
    expect(fault).toMatch(/^\.bridge-settings\.json: custom_domains must be a list .* No domain of the file is used\.$/);
  });
});
