// Runs on a repository in a process of its own: node runner.ts REPOSITORY CACHE FILE MOMENT OUTPUT.
// Says its branch at the end. At the moments 'cloning' and 'working' it says so and goes on until it is killed.
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { noFix, openIn } from './repo-runs.ts';

const [repo, repoCache, file, moment, output] = process.argv.slice(2) as [string, string, string, string, string];

/** Says so as soon as there is a copy that is not in use yet. */
function sayCloning(): void {
  const [name] = readdirSync(repoCache);
  const entries = name === undefined ? [] : readdirSync(join(repoCache, name));
  if (!entries.some((entry) => entry.startsWith('copy-'))) return void setTimeout(sayCloning, 1);
  process.stdout.write('cloning\n');
}

if (moment === 'cloning') sayCloning();
const { run } = await openIn(output, { repo, repoCache }, { jobId: `job-${process.pid}` });
writeFileSync(join(run.path, file), file);
if (moment !== 'end') {
  if (moment === 'working') process.stdout.write('working\n');
  await new Promise(() => setInterval(() => {}, 60_000));
}
const { repo: kept } = await run.settle('x', noFix);
await run.close();
process.stdout.write(`${kept.branch}\n`);
