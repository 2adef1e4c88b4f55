// The databases of all runs: each run of vitest would start its own, which takes longer than most tests.
import { hasJava, startLocalDynamo } from '../../packages/aws/src/testing/local-dynamo.ts';
import { startPostgres } from '../../packages/sql/src/postgres/testing/embedded.ts';

const usesPostgres = ({ test }) => test.includes('/postgres/');
const usesDynamo = ({ test }) => test.includes('/dynamodb/');

/** Their tests would be skipped; in CI they fail instead. */
export const cannotRun = (mutant) => usesDynamo(mutant) && !hasJava && process.env.CI !== 'true';

/** Answers what the tests find them by. */
export async function startServers(mutants) {
  const needsPostgres = mutants.some(usesPostgres) && !process.env.WAYBILL_TEST_POSTGRES;
  const needsDynamo = mutants.some(usesDynamo) && !process.env.WAYBILL_TEST_DYNAMODB;
  const [postgres, dynamo] = await Promise.all([
    needsPostgres ? startPostgres() : undefined,
    needsDynamo ? startLocalDynamo() : undefined,
  ]);
  const env = {
    ...(postgres && { WAYBILL_TEST_POSTGRES: postgres.url }),
    ...(dynamo && { WAYBILL_TEST_DYNAMODB: dynamo.endpoint }),
  };
  return { env, stop: () => Promise.all([postgres?.remove(), dynamo?.stop()]) };
}
