/**
 * Settings of a session with which PostgreSQL plans each statement once, as it is written: joins in their order, as nested loops over
 * indexes. Every statement of Bridge reads a few rows along an index. Without statistics, for example in a new database, PostgreSQL would
 * prefer to read and sort whole tables, and would keep that plan while the tables grow.
 */
export const planAsWritten: string = [
  ...["seqscan", "bitmapscan", "sort", "incremental_sort", "hashjoin", "mergejoin", "material"].map((kind) => `SET enable_${kind} = off`),
  "SET join_collapse_limit = 1",
  "SET plan_cache_mode = force_generic_plan",
  // The cost of a disabled kind of plan would start the compiler.
  "SET jit = off",
].join("; ");
