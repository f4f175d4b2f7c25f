/** The client of hey-api: an SDK that validates every answer with zod. */
export default {
  input: "../../../openapi.yaml",
  output: "generated/hey-api",
  plugins: ["@hey-api/client-fetch", "@hey-api/typescript", "zod", { name: "@hey-api/sdk", validator: { response: "zod" } }],
};
