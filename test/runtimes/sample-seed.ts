/** The environment variable with the seed that decides which tests a sample contains. All tests run without it. */
export const SAMPLE_SEED = "BRIDGE_TEST_RUNTIMES_SAMPLE";
