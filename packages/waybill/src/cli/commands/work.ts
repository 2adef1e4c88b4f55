import { silentLogger } from '@waybill/core';
import { command } from '../command.ts';
import { commandLogger, LOG_OPTION } from '../command-logger.ts';
import { blobsIn } from '../context.ts';
import { loadSomeTasks } from '../load-tasks.ts';
import { readInteger, readSpan } from '../read-value.ts';
import { BLOBS, TRANSPORT } from '../serve-options.ts';
import { QUEUE_OPTIONS, readQueueOptions } from '../worker-queues.ts';

/** `waybill work`: a worker without a line of code around it. Logs go to stderr. */
export const work = command({
  name: 'work',
  section: 'Servers and workers',
  summary: 'run a worker on the tasks that an ES module exports',
  args: 'MODULE',
  isServer: true,
  takesTenant: true,
  options: {
    ...QUEUE_OPTIONS,
    concurrency: { value: 'N', about: 'handlers at a time', default: '10' },
    transport: TRANSPORT,
    blobs: BLOBS,
    grace: { value: 'SPAN', about: 'how long a stop waits for running handlers', default: '25s' },
    ...LOG_OPTION,
    quiet: { about: 'log nothing' },
  },
  notes: `The module exports tasks by name, or a list of them as its default. The first Ctrl-C or SIGTERM takes no more
jobs and lets running ones finish; a second one does not wait.`,
  run: async ({ args: [module = ''], values: { concurrency, transport, grace, quiet, ...values } }, context) => {
    const given = {
      ...(concurrency !== undefined && { concurrency: readInteger('--concurrency', concurrency) }),
      ...(grace !== undefined && { graceMs: readSpan('--grace', grace) }),
    };
    const tasks = await loadSomeTasks(module);
    const options = { ...given, ...readQueueOptions(values, tasks) };
    const { connectionTo } = await import('../../sdk/connect.ts');
    const logger = quiet ? silentLogger : await commandLogger(values, context.io);
    const interrupted = context.io.interrupted();
    const blobs = values.blobs ?? blobsIn(context.io.env);
    const waybill = connectionTo(
      await context.connect({
        ...{ create: true, maintenance: true, logger },
        ...(transport !== undefined && { transport }),
        ...(blobs !== undefined && { blobs }),
      }),
      {
        logger,
        ...(blobs !== undefined && { blobs }),
        ...(context.tenant !== undefined && { tenant: context.tenant }),
      },
    );
    const worker = waybill.work(tasks, options);
    context.io.stdout.write(`waybill works on ${tasks.map(({ name }) => name).join(', ')} as ${worker.id}\n`);
    const stop = () => void worker.stop();
    interrupted.addEventListener('abort', stop, { once: true });
    if (interrupted.aborted) stop();
    await worker.ended;
    return 0;
  },
});
