// npm run bench -- [--workload NAME]... [--rounds N] [--scale X] [--json]
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { tableOf } from './report.ts';
import type { Result } from './result.ts';
import { WORKLOADS } from './workloads/index.ts';

const RUN_ONE = fileURLToPath(new URL('./run-one.ts', import.meta.url));
const HELP = `npm run bench -- [options]

  --store sqlite     the store to measure (default, and the only one so far)
  --workload NAME    only this one; may be repeated
  --rounds N         interleaved rounds; the median is reported (default 5)
  --scale X          so many times the documented number of jobs (default 1)
  --json             one line of JSON per run instead of a table

Workloads: ${Object.keys(WORKLOADS).join(', ')}`;

const { values } = parseArgs({
  options: {
    store: { type: 'string', default: 'sqlite' },
    workload: { type: 'string', multiple: true },
    rounds: { type: 'string', default: '5' },
    scale: { type: 'string', default: '1' },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

function fail(message: string): never {
  console.error(`bench: ${message}\n\n${HELP}`);
  process.exit(2);
}

if (values.help) {
  console.log(HELP);
  process.exit(0);
}
if (values.store !== 'sqlite') fail(`there is no store '${values.store}' here`);
const chosen = values.workload ?? Object.keys(WORKLOADS);
for (const name of chosen) if (!Object.hasOwn(WORKLOADS, name)) fail(`there is no workload '${name}'`);
const rounds = Number(values.rounds);
if (!Number.isInteger(rounds) || rounds < 1) fail('--rounds takes a whole number from 1');

const run = promisify(execFile);
for (const workload of chosen) {
  const results: Result[] = [];
  const systems = Object.keys(WORKLOADS[workload]!.systems);
  for (let round = 0; round < rounds; round += 1) {
    // Whoever runs first meets a cooler machine, so the order turns with every round.
    for (const system of round % 2 === 0 ? systems : systems.toReversed()) {
      const { stdout } = await run(process.execPath, [RUN_ONE, workload, system, values.scale], { maxBuffer: 1e8 });
      const line = stdout.trim().split('\n').at(-1)!;
      if (values.json) console.log(line);
      results.push(JSON.parse(line) as Result);
    }
  }
  if (!values.json) console.log(tableOf(workload, results));
}
