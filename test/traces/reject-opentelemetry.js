// Preloaded into a Bridge: the packages that export traces are as if they were not installed. prom-client loads the API, which does nothing.
import { registerHooks } from "node:module";

registerHooks({
  resolve(specifier, context, next) {
    if (!specifier.startsWith("@opentelemetry/") || specifier === "@opentelemetry/api") return next(specifier, context);
    throw Object.assign(new Error(`Cannot find package '${specifier}'`), { code: "ERR_MODULE_NOT_FOUND" });
  },
});
