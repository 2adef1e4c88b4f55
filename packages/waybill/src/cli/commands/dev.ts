import { ALL_TENANTS, type Logger, type Waybill } from '@waybill/core';
import type { AnyTask } from '@waybill/worker';
import { command } from '../command.ts';
import { commandLogger, LOG_OPTION } from '../command-logger.ts';
import type { Context } from '../context.ts';
import { eventLine } from '../event-line.ts';
import { loadSomeTasks } from '../load-tasks.ts';
import { nextSteps } from '../next-steps.ts';
import { readServeOptions, SERVE_OPTIONS } from '../serve-options.ts';
import { linesWithin } from '../text-width.ts';
import { readQueueOptions } from '../worker-queues.ts';

const DEV_STORE = 'sqlite:./.waybill/dev.db';

/** `waybill dev`: the same server with a worker beside it, and a line for everything that happens. */
export const dev = command({
  name: 'dev',
  section: 'Servers and workers',
  summary: 'run the server with a worker beside it, and show what happens',
  args: '[MODULE]',
  isServer: true,
  options: {
    ...SERVE_OPTIONS,
    ...LOG_OPTION,
    store: { value: 'URL', about: SERVE_OPTIONS.store.about, default: `WAYBILL_STORE, ${DEV_STORE}` },
  },
  notes: `The worker runs the tasks that the ES module exports, as 'waybill work' does. Without a module it is a sample that
answers the jobs of the queue 'sample'. A port that is taken is replaced by a free one, unless it was named.`,
  run: async ({ args: [module], values }, context) => {
    const options = readServeOptions(values, context, { store: DEV_STORE });
    const tasks = module === undefined ? [] : await loadSomeTasks(module);
    const { io, style, width } = context;
    const logger = await commandLogger(values, io);
    const { readyLine, startHost } = await import('../host.ts');
    const interrupted = io.interrupted();
    const host = await startHost(options, logger);
    io.stdout.write(linesWithin(readyLine(host, options), width));
    if (io.isTty) io.stdout.write(linesWithin(nextSteps(host.url, tasks, style), width));

    const stopping = new AbortController();
    const shown = showEvents(host.waybill, await host.waybill.events.end(), context, stopping.signal);
    const stopWorker = await startWorker(host.waybill, tasks, logger);

    if (!interrupted.aborted) await new Promise((resolve) => interrupted.addEventListener('abort', resolve));
    await stopWorker();
    stopping.abort();
    await shown;
    await host.drain();
    return 0;
  },
});

/** Answers what stops it. */
async function startWorker(waybill: Waybill, tasks: AnyTask[], logger: Logger): Promise<() => Promise<void>> {
  if (tasks.length > 0) {
    const { connectionTo } = await import('../../sdk/connect.ts');
    const worker = connectionTo(waybill, { logger }).work(tasks, readQueueOptions({}, tasks));
    return () => worker.stop();
  }
  const { sampleWorker } = await import('../../dev/sample-worker.ts');
  const stopping = new AbortController();
  const working = sampleWorker(waybill.jobs, stopping.signal);
  await waybill.jobs.enqueue({ type: 'sample.hello', args: ['world'], options: { queue: 'sample' } });
  return async () => {
    stopping.abort();
    await working;
  };
}

async function showEvents({ events }: Waybill, after: string, context: Context, signal: AbortSignal): Promise<void> {
  for await (const event of events.follow({ after, filter: { tenant: ALL_TENANTS }, signal }))
    context.io.stdout.write(`${eventLine(event, context)}\n`);
}
