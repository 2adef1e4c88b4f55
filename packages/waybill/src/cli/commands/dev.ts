import { ALL_TENANTS, type Waybill } from '@waybill/core';
import type { AnyTask } from '@waybill/worker';
import type { WorkOptions } from '../../sdk/connect.ts';
import { command } from '../command.ts';
import { commandLogger, LOG_OPTION, logsDebug } from '../command-logger.ts';
import { type Observed, withTelemetry } from '../command-telemetry.ts';
import type { Context } from '../context.ts';
import { eventLine } from '../event-line.ts';
import { EXEC_TYPE } from '../exec-job.ts';
import { loadSomeTasks } from '../load-tasks.ts';
import { nextSteps } from '../next-steps.ts';
import { checkPrograms, EXEC_OPTION, type ProgramValues } from '../program-options.ts';
import { readServeOptions, SERVE_OPTIONS } from '../serve-options.ts';
import { linesWithin } from '../text-width.ts';
import { readWorkOptions, type WorkValues } from '../work-options.ts';

const DEV_STORE = 'sqlite:./.waybill/dev.db';

/** `waybill dev`: the same server with a worker beside it, and a line for everything that happens. */
export const dev = command({
  name: 'dev',
  section: 'Servers and workers',
  summary: 'run the server with a worker beside it, and show what happens',
  args: '[MODULE]',
  isServer: true,
  readsConfig: true,
  options: {
    ...SERVE_OPTIONS,
    ...EXEC_OPTION,
    ...LOG_OPTION,
    store: { value: 'URL', about: SERVE_OPTIONS.store.about, default: `WAYBILL_STORE, ${DEV_STORE}` },
  },
  notes: `The worker runs the tasks that the ES module exports, as 'waybill work' does. Without a module it is a sample that
answers the jobs of the queue 'sample'. A port that is taken is replaced by a free one, unless it was named.

With --exec it also runs the programs that \`waybill exec\` enqueues: every client that may enqueue in queue 'exec' may run any
program as the user of this process.`,
  run: async ({ args: [named], values }, context) => {
    const module = named ?? context.config?.options.module;
    const options = readServeOptions(values, context, { store: DEV_STORE });
    const workValues: WorkValues & ProgramValues = { ...context.config?.flags, ...(values.exec && { exec: true }) };
    checkPrograms(workValues, context);
    const loaded = module === undefined ? [] : await loadSomeTasks(module);
    const { programTasks } = await import('../program-tasks.ts');
    const tasks = [...loaded, ...programTasks(workValues, loaded)];
    // The sample has a queue of its own.
    const workOptions = tasks.length === 0 ? {} : readWorkOptions(workValues, tasks, context);
    const blobs = options.blobs === undefined ? {} : { blobs: options.blobs };
    const { io, style, width } = context;
    const logger = await commandLogger(values, io);
    const { readyLine, startHost } = await import('../host.ts');
    const interrupted = io.interrupted();
    const asked = { serviceName: 'waybill-server', metrics: values.metrics, logger };
    return withTelemetry(io, asked, async (observed) => {
      const host = await startHost({ ...options, accessLog: logsDebug(io) }, observed.logger, observed.telemetry);
      io.stdout.write(linesWithin(readyLine(host, options), width));
      if (io.isTty) io.stdout.write(linesWithin(nextSteps(host.url, tasks, style), width));

      const stopping = new AbortController();
      const shown = showEvents(host.waybill, await host.waybill.events.end(), context, stopping.signal);
      const stopWorker = await startWorker(host.waybill, tasks, { ...observed, ...blobs }, workOptions);

      if (!interrupted.aborted) await new Promise((resolve) => interrupted.addEventListener('abort', resolve));
      await stopWorker();
      stopping.abort();
      await shown;
      await host.drain();
      return 0;
    });
  },
});

/** Answers what stops it. The sample runs where there is nothing of the user's own, the programs of others included. */
async function startWorker(
  waybill: Waybill,
  tasks: AnyTask[],
  { logger, telemetry, blobs }: Observed & { blobs?: string },
  options: WorkOptions,
): Promise<() => Promise<void>> {
  const stops: (() => Promise<void>)[] = [];
  if (tasks.length > 0) {
    const { connectionTo } = await import('../../sdk/connect.ts');
    const observed = telemetry && { telemetry: telemetry.instrumentation };
    const place = blobs !== undefined && { blobs };
    const worker = connectionTo(waybill, { logger, ...observed, ...place }).work(tasks, options);
    stops.push(() => worker.stop());
  }
  if (tasks.every(({ name }) => name === EXEC_TYPE)) stops.push(await startSample(waybill));
  return async () => void (await Promise.all(stops.map((stop) => stop())));
}

async function startSample({ jobs }: Waybill): Promise<() => Promise<void>> {
  const { sampleWorker } = await import('../../dev/sample-worker.ts');
  const stopping = new AbortController();
  const working = sampleWorker(jobs, stopping.signal);
  await jobs.enqueue({ type: 'sample.hello', args: ['world'], options: { queue: 'sample' } });
  return async () => {
    stopping.abort();
    await working;
  };
}

async function showEvents({ events }: Waybill, after: string, context: Context, signal: AbortSignal): Promise<void> {
  for await (const event of events.follow({ after, filter: { tenant: ALL_TENANTS }, signal }))
    context.io.stdout.write(`${eventLine(event, context)}\n`);
}
