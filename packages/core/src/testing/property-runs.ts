/** What a run of the tests on a desk leaves of the random runs, so that it stays short. */
const SHARE = 0.2;

/** How many random runs a property test makes: all of them with `WAYBILL_TEST_RUNS=full`, else a fifth. */
export const propertyRuns = (full: number): number =>
  process.env['WAYBILL_TEST_RUNS'] === 'full' ? full : Math.ceil(full * SHARE);
