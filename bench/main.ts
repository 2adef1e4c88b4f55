// npm run bench -- [--workload NAME] [--json]: what work costs on a SQLite file, one line of JSON per result.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { type Result, WORKLOADS } from './workloads.ts';

const { values } = parseArgs({
  options: {
    workload: { type: 'string', multiple: true },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean' },
  },
});

if (values.help) {
  console.log(`npm run bench -- [--workload NAME]... [--json]\n\nWorkloads: ${Object.keys(WORKLOADS).join(', ')}`);
  process.exit(0);
}

const chosen = values.workload ?? Object.keys(WORKLOADS);
const unknown = chosen.find((name) => !Object.hasOwn(WORKLOADS, name));
if (unknown !== undefined) {
  console.error(`There is no workload '${unknown}'. There are: ${Object.keys(WORKLOADS).join(', ')}`);
  process.exit(2);
}

for (const name of chosen) {
  const folder = mkdtempSync(path.join(tmpdir(), 'waybill-bench-'));
  try {
    const result = await WORKLOADS[name]!(path.join(folder, 'bench.db'));
    console.log(values.json ? JSON.stringify(result) : rowOf(result));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function rowOf({ workload, jobs, seconds, first_us, last_us, rss_mb }: Result): string {
  const rate = Math.round(jobs / seconds).toLocaleString('en');
  return `${workload.padEnd(16)} ${jobs.toLocaleString('en').padStart(9)} jobs  ${rate.padStart(8)}/s  first tenth ${first_us} us/job, last tenth ${last_us} us/job  ${rss_mb} MB`;
}
