import { silentLogger, stderrLogger } from '@waybill/core';
import { command } from '../command.ts';
import { readServeOptions, SERVE_OPTIONS } from '../serve-options.ts';
import { untilAskedToStop } from '../signals.ts';

const DEV_STORE = 'sqlite:./.waybill/dev.db';

/** `waybill dev`: the same server with a sample worker beside it, and a line for everything that happens. */
export const dev = command({
  name: 'dev',
  section: 'Servers and workers',
  summary: 'run the server with a sample worker, and show what happens',
  isServer: true,
  options: {
    ...SERVE_OPTIONS,
    store: { value: 'URL', about: SERVE_OPTIONS.store.about, default: `WAYBILL_STORE, ${DEV_STORE}` },
  },
  notes: 'A port that is taken is replaced by a free one, unless it was named.',
  run: async ({ values }, context) => {
    const options = readServeOptions(values, context, { store: DEV_STORE });
    const [{ readyLine, startHost }, { sampleWorker }, { showEvents }] = await Promise.all([
      import('../host.ts'),
      import('../../dev/sample-worker.ts'),
      import('../../dev/show-events.ts'),
    ]);
    const stopped = untilAskedToStop(silentLogger);
    const host = await startHost(options, stderrLogger);
    context.io.stdout.write(readyLine(host, options));

    const stopping = new AbortController();
    const shown = showEvents(host.waybill.events, await host.waybill.events.end(), stopping.signal);
    const working = sampleWorker(host.waybill.jobs, stopping.signal);
    await host.waybill.jobs.enqueue({ type: 'sample.hello', args: ['world'], options: { queue: 'sample' } });

    await stopped;
    stopping.abort();
    await Promise.all([working, shown]);
    await host.drain();
    return 0;
  },
});
