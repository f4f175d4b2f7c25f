import { expect, test } from "vitest";
import { BridgeError } from "../../src/errors.ts";
import { normalizeTools } from "../../src/requests/normalize-tools.ts";

const schema = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
const weather = { name: "weather", description: "Tells the weather.", inputSchema: schema };

test.each([
  [
    "OpenAI, Chat Completions",
    { type: "function", function: { name: "weather", description: "Tells the weather.", parameters: schema } },
    weather,
  ],
  [
    "OpenAI, strict",
    { type: "function", function: { name: "weather", description: "Tells the weather.", parameters: schema, strict: true } },
    weather,
  ],
  [
    "OpenAI, Responses",
    { type: "function", name: "weather", description: "Tells the weather.", parameters: schema, strict: null },
    weather,
  ],
  ["Anthropic", { name: "weather", description: "Tells the weather.", input_schema: schema }, weather],
  ["Anthropic, custom", { type: "custom", name: "weather", description: "Tells the weather.", input_schema: schema }, weather],
  ["MCP", { name: "weather", description: "Tells the weather.", inputSchema: schema }, weather],
  [
    "MCP, as a server lists it",
    { name: "weather", title: "Weather", description: "Tells the weather.", inputSchema: schema, annotations: { readOnlyHint: true } },
    weather,
  ],
  ["a name alone", { name: "weather" }, { name: "weather", description: "", inputSchema: { type: "object" } }],
  [
    "OpenAI, a name alone",
    { type: "function", function: { name: "weather" } },
    { name: "weather", description: "", inputSchema: { type: "object" } },
  ],
  [
    "nulls for nothing",
    { type: "function", name: "weather", description: null, parameters: null },
    { name: "weather", description: "", inputSchema: { type: "object" } },
  ],
])("%s", (_, tool, expected) => {
  expect(normalizeTools([tool])).toEqual([expected]);
});

test("tools keep their order", () => {
  expect(normalizeTools([{ name: "b" }, { name: "a", input_schema: schema }]).map((tool) => tool.name)).toEqual(["b", "a"]);
  expect(normalizeTools([])).toEqual([]);
});

test.each<[string, unknown, string[]]>([
  ["no array", { name: "a" }, ["tools"]],
  ["no object", ["weather"], ["tools.0"]],
  ["null", [null], ["tools.0"]],
  ["no name", [{ description: "x" }], ["tools.0.name"]],
  ["no name inside the function", [{ type: "function", function: {} }], ["tools.0.function.name"]],
  ["an empty name", [{ name: "" }], ["tools.0.name"]],
  ["a long name", [{ name: "x".repeat(129) }], ["tools.0.name"]],
  ["a NUL in the name", [{ name: "a\0b" }], ["tools.0.name"]],
  ["a schema that is no object", [{ name: "a", inputSchema: [] }], ["tools.0.inputSchema"]],
  ["another schema that is no object", [{ name: "a", input_schema: "x" }], ["tools.0.input_schema"]],
  ["an unknown field", [{ name: "a" }, { name: "b", inputSchema: {}, descripton: "x" }], ["tools.1.descripton"]],
  ["an unknown field inside the function", [{ type: "function", function: { name: "a", params: {} } }], ["tools.0.function.params"]],
  ["a tool of the model's own vendor", [{ type: "web_search", name: "search" }], ["tools.0.type"]],
  ["forms mixed", [{ type: "function", name: "a", inputSchema: {} }], ["tools.0.inputSchema"]],
  ["a name twice, in two forms", [{ name: "a" }, { type: "function", function: { name: "a" } }], ["tools.1.name"]],
  ["every fault at once", [{ name: 1 }, { name: "a", description: 2 }], ["tools.0.name", "tools.1.description"]],
])("normalizeTools rejects %s at its path", (_, tools, paths) => {
  const error = refusal(() => normalizeTools(tools));
  expect(error.code).toBe("invalid_request");
  expect(error.errors.map(({ path }) => path)).toEqual(paths);
});

function refusal(act: () => unknown): BridgeError {
  try {
    act();
  } catch (error) {
    if (error instanceof BridgeError) return error;
    throw error;
  }
  throw new Error("nothing was refused");
}
