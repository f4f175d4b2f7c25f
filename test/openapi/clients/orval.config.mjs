const input = { target: "../../../openapi.yaml" };

/** The client of orval, and its zod schemas. */
export default {
  client: { input, output: { target: "generated/orval/client.ts", client: "fetch", mode: "single" } },
  zod: { input, output: { target: "generated/orval/zod.ts", client: "zod", mode: "single" } },
};
