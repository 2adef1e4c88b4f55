import { resolve } from 'node:path';
import { jobToWire } from '@waybill/client';
import type { Job, JobRequest, Waybill } from '@waybill/core';
import { shownAddress } from '../../connect/shown-address.ts';
import { command, misuse } from '../command.ts';
import type { Context } from '../context.ts';
import { exitOf } from '../exec-exit.ts';
import { EXEC_QUEUE, EXEC_TYPE, startLine } from '../exec-job.ts';
import { INTERRUPTED } from '../exit.ts';
import { followOutput } from '../follow-output.ts';
import { readInteger, readJson, readSpan, readText } from '../read-value.ts';

export const exec = command({
  name: 'exec',
  section: 'Jobs',
  summary: 'run a program as a job, by a worker with --exec',
  args: '-- PROGRAM [ARG…]',
  options: {
    queue: { value: 'NAME', about: 'queue of the job', default: EXEC_QUEUE },
    follow: { about: 'show what it prints until the job has ended, and exit as the program does' },
    timeout: { value: 'SPAN', about: 'how long one run may take', default: 'no limit' },
    retries: { value: 'N', about: 'how often it is run again when it fails', default: '0' },
    cwd: { value: 'DIR', about: 'the folder in which it runs, on the machine of the worker', default: 'this one' },
    input: { value: 'JSON', about: 'what it gets on stdin', default: 'null' },
  },
  notes: `What stands behind -- is taken as it is. No shell reads it, so a pipe needs one:

  waybill exec --follow -- npm test
  waybill exec -- sh -c 'pg_dump shop | gzip > shop.gz'

The job waits for a worker that runs programs, 'waybill work --exec'. The program has the rights of that worker and few variables of
its environment. With --follow, output goes to stdout and stderr as it comes. Exit code: that of the program, 128 and
its number for a signal, else 1. Ctrl-C stops following, and the job goes on.`,
  run: async ({ args, values }, context) => {
    const { follow = false } = values;
    if (follow && context.isJson)
      throw misuse(
        '--follow shows the output as it is, so leave out --json. `waybill logs JOB --follow --json` has both.',
      );
    const request = requestOf(args, values);
    const waybill = await context.connect({ create: true });
    const { job, created } = await waybill.jobs.enqueue(request);
    const next = nextLines(job, context);
    if (!follow) {
      context.show({ job: jobToWire(job), created }, () => `${job.id} ${job.state} in queue ${job.queue}\n${next}`);
      await tellWithoutWorker(waybill, job, context);
      return 0;
    }
    context.tell(`job ${job.id} in queue ${job.queue}`);
    await tellWithoutWorker(waybill, job, context);
    const signal = context.io.interrupted();
    await followOutput(waybill, job, signal, context);
    if (signal.aborted) {
      context.tell(`no longer following job ${job.id}; it goes on.\n${next}`.trimEnd());
      return INTERRUPTED;
    }
    const { code, message } = await exitOf(waybill, job);
    if (message !== undefined) context.tell(message);
    return code;
  },
});

interface Values {
  queue?: string;
  timeout?: string;
  retries?: string;
  cwd?: string;
  input?: string;
}

function requestOf(program: readonly string[], { queue, timeout, retries, cwd, input }: Values): JobRequest {
  const again = retries === undefined ? 0 : readInteger('--retries', retries);
  if (again < 0) throw misuse(`--retries must be from 0 on, not ${retries}.`);
  if (program[0] === '') throw misuse('PROGRAM must not be empty.');
  const given = {
    command: [...program],
    cwd: resolve(cwd === undefined ? '.' : readText('--cwd', cwd)),
    ...(input !== undefined && { input: readJson('--input', input) }),
  };
  return {
    type: EXEC_TYPE,
    args: [given],
    options: {
      queue: queue ?? EXEC_QUEUE,
      retry: { max_attempts: again + 1 },
      ...(timeout !== undefined && { timeout_ms: readSpan('--timeout', timeout) }),
    },
  };
}

/** What may be done with the job next, to be pasted into the same shell. */
function nextLines({ id }: Job, { namedStore, tenant, io: { env } }: Context): string {
  const byHand = (given: string | undefined, variable: string): given is string =>
    given !== undefined && given !== env[variable];
  // An address that hides a password is no use in a shell.
  const isShown = byHand(namedStore, 'WAYBILL_STORE') && shownAddress(namedStore) === namedStore;
  const store = isShown ? ` --store '${namedStore}'` : '';
  const whose = byHand(tenant, 'WAYBILL_TENANT') ? ` --tenant '${tenant}'` : '';
  return `  Follow it: waybill logs ${id} --follow${store}${whose}\n  Cancel it: waybill jobs cancel ${id}${store}${whose}\n`;
}

/** Workers are heard of every 20 s. */
const SEEN_WITHIN_MS = 60_000;

/** Which tasks a worker has, the server does not know: whether there is any worker, it does. */
async function tellWithoutWorker({ workers }: Waybill, { queue }: Job, context: Context): Promise<void> {
  // A key may allow to enqueue and not to look at workers.
  const known = await workers.list().catch(() => undefined);
  if (known === undefined || known.some(({ lastSeenAt }) => lastSeenAt > context.io.now() - SEEN_WITHIN_MS)) return;
  context.tell(`no worker was seen in the last minute. Start one: ${startLine(queue)}`);
}
