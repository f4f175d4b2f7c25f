import type { ActionBuilder, DataModelFromSchemaDefinition, HttpActionBuilder, MutationBuilder } from "convex/server";
import type schema from "../../../../../examples/convex/convex/schema.ts";

// `npx convex codegen` writes this file, but only for a deployment. These are the declarations that the example uses.
type DataModel = DataModelFromSchemaDefinition<typeof schema>;
export declare const internalAction: ActionBuilder<DataModel, "internal">;
export declare const internalMutation: MutationBuilder<DataModel, "internal">;
export declare const httpAction: HttpActionBuilder;
