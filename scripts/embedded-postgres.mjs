// Runs a PostgreSQL of its own, says where, and ends with this process. For trying things out and for the suites.
import { startPostgres } from '../packages/sql/src/postgres/testing/embedded.ts';

const server = await startPostgres();
console.log(`postgres ready on ${server.url}`);
const stop = async () => {
  await server.remove();
  process.exit(0);
};
process.once('SIGTERM', stop);
process.once('SIGINT', stop);
setInterval(() => {}, 60_000);
