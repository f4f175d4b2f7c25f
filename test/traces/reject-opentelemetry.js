// Preloaded into a Bridge: imports of the packages that export traces fail as if these were not installed. The API loads, because
// prom-client imports it.
import { registerHooks } from "node:module";

registerHooks({
  resolve(specifier, context, next) {
    if (!specifier.startsWith("@opentelemetry/") || specifier === "@opentelemetry/api") return next(specifier, context);
    throw Object.assign(new Error(`Cannot find package '${specifier}'`), { code: "ERR_MODULE_NOT_FOUND" });
  },
});
