/** The environment variable with the seed that decides which tests a sample contains. All tests run without it. */
export const SAMPLE_SEED = "BRIDGE_TEST_RUNTIMES_SAMPLE";

/**
 * The environment variable with the files that are sampled, as a JSON array of their paths or directories, relative to the repository.
 * Without it, all files are.
 */
export const SAMPLED_FILES = "BRIDGE_TEST_RUNTIMES_SAMPLED_FILES";
