import { silentLogger, type Waybill, type WaybillError } from '@waybill/core';
import type { AnyTask } from '@waybill/worker';
import { PRESET_OPTION } from '../../agent-consumer/preset-option.ts';
import { isRemote } from '../../connect/parse-address.ts';
import { command, misuse } from '../command.ts';
import { commandLogger, LOG_OPTION } from '../command-logger.ts';
import { withTelemetry } from '../command-telemetry.ts';
import { blobsIn, type Context } from '../context.ts';
import { firstClaims } from '../first-claims.ts';
import { loadSomeTasks } from '../load-tasks.ts';
import { checkPrograms, PROGRAM_OPTIONS, type ProgramValues } from '../program-options.ts';
import { BLOBS, TRANSPORT } from '../serve-options.ts';
import { checkWorkOptions, readWorkOptions, WORK_OPTIONS } from '../work-options.ts';

/** `waybill work`: a worker without a line of code around it. Logs go to stderr. */
export const work = command({
  name: 'work',
  section: 'Servers and workers',
  summary: 'run a worker on the tasks of an ES module, or on programs',
  args: '[MODULE]',
  isServer: true,
  readsConfig: true,
  takesTenant: true,
  takesKey: true,
  options: {
    ...PRESET_OPTION,
    ...WORK_OPTIONS,
    ...PROGRAM_OPTIONS,
    transport: TRANSPORT,
    blobs: BLOBS,
    ...LOG_OPTION,
    quiet: { about: 'log nothing' },
  },
  notes: `The module exports tasks by name, or a list of them as its default. The first Ctrl-C or SIGTERM takes no more
jobs and lets running ones finish; a second one does not wait. The configuration file may name the module.

Without a module, any program may be a task. It gets the input of a job as JSON on stdin. Its result is what it writes to the
file $WAYBILL_RESULT_FILE, else its stdout if that is JSON, else null. An exit code other than 0 fails the run:

  waybill work --command 'python3 step.py' --type py.step --memory-mb 512

A program has a process of its own, and of the environment only what --inherit-env names, besides PATH and the like. What it prints
is on the log of the worker.

With --exec the worker runs the programs that \`waybill exec\` enqueues, in queue 'exec' unless --queues names others. Every client
that may enqueue there may then run any program as the user of this worker.

--preset agent-consumer needs no other option: it works on the messages of SQS_QUEUE_URL, by the variables that
docs/agent-consumer.md lists. Its task is an agent, or the one that MODULE exports.`,
  run: async ({ args: [named], values: { transport, quiet, ...values } }, context) => {
    const { preset } = context;
    const module = named ?? context.config?.options.module;
    if (module === undefined && values.command === undefined && !values.exec && values.type === undefined && !preset)
      throw misuse("'waybill work' needs MODULE, --command, --exec or --preset.");
    checkWorkOptions(values);
    checkPrograms(values, context);
    preset?.checkPlace(context.store, transport ?? context.io.env['WAYBILL_TRANSPORT']);
    const tasks = await tasksFor(module, values, context);
    const options = readWorkOptions(values, tasks, context);
    const { connectionTo } = await import('../../sdk/connect.ts');
    const plain = quiet ? silentLogger : await commandLogger(values, context.io);
    const interrupted = context.io.interrupted();
    const blobs = values.blobs ?? blobsIn(context.io.env);
    // A worker has no port at which its metrics could be read.
    const asked = { serviceName: 'waybill-worker', metrics: false, logger: plain };
    return withTelemetry(context.io, asked, async ({ logger, telemetry }) => {
      const observed = telemetry && { telemetry: telemetry.instrumentation };
      const whose = context.tenant === undefined ? {} : { tenant: context.tenant };
      const port = await context.connect({
        ...{ create: true, maintenance: true, logger, ...observed },
        ...(transport !== undefined && { transport }),
        ...(blobs !== undefined && { blobs }),
        ...(preset && { sqs: preset.sqsFor(tasks) }),
      });
      const isBehindServer = isRemote(context.store);
      if (isBehindServer) await refuseWrongKey(port);
      let refusal: WaybillError | undefined;
      const onRefused = (reason: WaybillError) => {
        refusal ??= reason;
        void worker.stop();
      };
      const first = isBehindServer ? firstClaims(port, onRefused) : undefined;
      const waybill = connectionTo(first?.port ?? port, {
        ...{ logger, ...observed },
        ...(blobs !== undefined && { blobs }),
        ...whose,
      });
      // Where a server is in between, it is the server that tells of its queues.
      const watching = isBehindServer ? undefined : telemetry?.instrumentation.watch(port, whose);
      const worker = waybill.work(tasks, options);
      const stop = () => void worker.stop();
      interrupted.addEventListener('abort', stop, { once: true });
      if (interrupted.aborted) stop();
      let hasCrashed = false;
      void context.io.uncaught().then((error) => {
        hasCrashed = true;
        logger.error({ err: error, worker: worker.id }, 'An error that nothing has caught ends the worker.');
        void worker.stop({ graceMs: 0 });
      });
      await Promise.race([first?.answered, worker.ended]);
      if (refusal === undefined)
        context.io.stdout.write(`waybill works on ${tasks.map(({ name }) => name).join(', ')} as ${worker.id}\n`);
      await worker.ended;
      watching?.stop();
      if (refusal !== undefined) throw refusal;
      return hasCrashed ? 1 : 0;
    });
  },
});

async function tasksFor(
  module: string | undefined,
  values: ProgramValues & { queues?: string },
  { preset }: Context,
): Promise<AnyTask[]> {
  const loaded = module === undefined ? [] : await loadSomeTasks(module);
  const { programTasks } = await import('../program-tasks.ts');
  const tasks = [...loaded, ...programTasks(values, loaded)];
  if (preset === undefined) return tasks;
  return preset.tasksOf(tasks.length === 0 ? await preset.defaultTasks() : tasks, module);
}

/** A key that the server does not know will not become known. A server that is away may come, so that is waited for. */
async function refuseWrongKey(port: Waybill): Promise<void> {
  await port.health().catch((error: unknown) => {
    if ((error as { code?: unknown }).code === 'unauthenticated') throw error;
  });
}
