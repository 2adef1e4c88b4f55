import { silentLogger } from '@waybill/core';
import { sampleWorker } from '../dev/sample-worker.ts';
import { showEvents } from '../dev/show-events.ts';
import { readyLine, startHost } from './host.ts';
import { readServeOptions } from './options.ts';
import { untilAskedToStop } from './signals.ts';

/** `waybill dev`: the same server with a sample worker beside it, and a line for everything that happens. */
export async function dev(args: readonly string[]): Promise<void> {
  const options = readServeOptions(args, { store: 'sqlite:./.waybill/dev.db' });
  const stopped = untilAskedToStop(silentLogger);
  const host = await startHost(options, silentLogger);
  process.stdout.write(readyLine(host, options));

  const stopping = new AbortController();
  const shown = showEvents(host.waybill.events, await host.waybill.events.end(), stopping.signal);
  const working = sampleWorker(host.waybill.jobs, stopping.signal);
  await host.waybill.jobs.enqueue({ type: 'sample.hello', args: ['world'], options: { queue: 'sample' } });

  await stopped;
  stopping.abort();
  await Promise.all([working, shown]);
  await host.drain();
}
