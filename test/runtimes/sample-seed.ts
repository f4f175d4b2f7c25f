/** The environment variable with the seed that decides which tests a sample contains. All tests run without it. */
export const SAMPLE_SEED = "BRIDGE_TEST_RUNTIMES_SAMPLE";

/** The environment variable with the directory whose files are sampled. Without it, all files are. */
export const SAMPLED_DIRECTORY = "BRIDGE_TEST_RUNTIMES_SAMPLED_DIRECTORY";
