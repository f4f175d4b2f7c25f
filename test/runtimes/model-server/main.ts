import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { createModelServer } from "./server.ts";

const { values } = parseArgs({
  options: { port: { type: "string", default: "0" }, scenario: { type: "string", multiple: true, default: [] } },
});

const server = await createModelServer({ port: Number(values.port) });
console.log(server.url);
for (const file of values.scenario) console.log(`${server.scenario(JSON.parse(readFileSync(file, "utf8")))} ${file}`);
