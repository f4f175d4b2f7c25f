import type { ApiFromModules, FilterApi, FunctionReference } from "convex/server";
import type * as callbacks from "../../../../../examples/convex/convex/callbacks.ts";
import type * as completions from "../../../../../examples/convex/convex/completions.ts";
import type * as dispatch from "../../../../../examples/convex/convex/dispatch.ts";

type Api = ApiFromModules<{ callbacks: typeof callbacks; completions: typeof completions; dispatch: typeof dispatch }>;
export declare const internal: FilterApi<Api, FunctionReference<"query" | "mutation" | "action", "internal">>;
