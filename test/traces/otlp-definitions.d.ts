declare module "otlp-definitions/build/src/generated/root.js" {
  /** A generated message of protobufjs. */
  interface Message {
    encode(value: object): { finish(): Uint8Array };
    decode(bytes: Uint8Array): object;
    toObject(message: object, options: object): unknown;
  }
  const root: {
    opentelemetry: { proto: { collector: { trace: { v1: Record<"ExportTraceServiceRequest" | "ExportTraceServiceResponse", Message> } } } };
  };
  // biome-ignore lint/style/noDefaultExport: the module is CommonJS.
  export default root;
}
