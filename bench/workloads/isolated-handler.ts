import { writeFileSync } from 'node:fs';

// What an isolated task runs: as its handler, and in a bare fork, which has its input on the command line. Node drops a message that
// comes before the module listens.
export default (input: unknown): unknown => input;

const { BENCH_READY } = process.env;
if (BENCH_READY !== undefined) writeFileSync(`${BENCH_READY}/${process.pid}`, '');

process.send?.(process.argv[2], undefined, undefined, () => process.disconnect());
