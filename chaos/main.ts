// npm run chaos -- --help
import { randomInt } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { audit } from './audit/audit.ts';
import { type ChaosOptions, commandFor, HELP, optionsOf, roundsOf } from './options.ts';
import { planTable } from './plan/plan.ts';
import { summaryOf, tableOf } from './report.ts';
import { planFor, type RoundResult, runRound } from './run/round.ts';
import { STORES } from './stores/index.ts';
import type { ChaosStore } from './stores/store.ts';

/** More than once under npm, which passes on what the terminal has sent already. */
const interruption = new AbortController();
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'])
  process.on(name, () => interruption.abort(new Error(`The run was ended by ${name}.`)));

async function main(options: ChaosOptions): Promise<boolean> {
  const store = await STORES[options.store]();
  let isWell = true;
  for (const round of roundsOf(options)) {
    if (options.planOnly) console.log(`seed ${round.seed}\n${planTable(planFor(round, store))}`);
    else isWell = (await roundIsWell(round, store)) && isWell;
  }
  return isWell;
}

async function roundIsWell(options: ChaosOptions, store: ChaosStore): Promise<boolean> {
  const tell = teller(options);
  tell(`seed ${options.seed} on ${options.store} for ${options.minutes} minutes`);
  let isWell = true;
  const judge = (result: RoundResult): boolean => {
    const summary = summaryOf(options, result, audit(result.evidence));
    console.log(options.json ? JSON.stringify(summary) : `\n${tableOf(summary)}\n`);
    isWell = summary.violations === 0;
    if (options.keep || !isWell) writeDown(result);
    return options.keep || !isWell;
  };
  await runRound(options, { store, tell, judge, signal: interruption.signal });
  return isWell;
}

/** What happens is told on stderr, so that stdout has the results alone. */
function teller({ json }: ChaosOptions): (text: string) => void {
  const begun = performance.now();
  return (text) => {
    if (!json) console.error(`${((performance.now() - begun) / 1_000).toFixed(1).padStart(7)} s  ${text}`);
  };
}

/** The database itself may be gone with its server, so what was read of it is kept beside the journals. */
function writeDown({ folder, evidence }: RoundResult): void {
  const lines = (items: Iterable<unknown>) => [...items].map((item) => `${JSON.stringify(item)}\n`).join('');
  writeFileSync(path.join(folder, 'jobs.jsonl'), lines(evidence.jobs.values()));
  writeFileSync(path.join(folder, 'log.jsonl'), lines(evidence.log));
  writeFileSync(path.join(folder, 'endings.jsonl'), lines(evidence.endings));
  writeFileSync(path.join(folder, 'limits.jsonl'), lines(evidence.limits));
  console.error(`Kept: ${folder}`);
}

function orExit<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    console.error(`chaos: ${(error as Error).message}\n\n${HELP}`);
    process.exit(2);
  }
}

const options = orExit(() => optionsOf(process.argv.slice(2), () => String(randomInt(1_000_000))));
if (options === 'help') console.log(HELP);
else {
  try {
    if (!(await main(options))) process.exitCode = 1;
  } catch (error) {
    const { signal } = interruption;
    console.error(signal.aborted ? (signal.reason as Error).message : error);
    console.error(`Run the same faults again: ${commandFor(options)}`);
    process.exitCode = signal.aborted ? 130 : 1;
  }
}
