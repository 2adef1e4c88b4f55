import type { AnyTask } from '@waybill/worker';
import type { WorkOptions } from '../sdk/connect.ts';
import { misuse, type Options, type Values } from './command.ts';
import type { Context } from './context.ts';
import { readInteger, readSpan, readText } from './read-value.ts';
import { QUEUE_OPTIONS, readQueueOptions } from './worker-queues.ts';

/** How a worker works. */
export const WORK_OPTIONS = {
  ...QUEUE_OPTIONS,
  concurrency: { value: 'N', about: 'handlers at a time', default: '10' },
  processes: {
    value: 'N',
    about: 'runs at a time that have processes of their own',
    default: '3, or --concurrency where all have',
  },
  grace: { value: 'SPAN', about: 'how long a stop waits for running handlers', default: '25s' },
  'stop-within': {
    value: 'SPAN',
    about: 'how long a stop takes at most, ending what still runs included',
    default: 'the grace, and the time that programs take to end',
  },
  outbox: { value: 'FOLDER', about: 'where what runs say is durable before it is sent', default: 'none' },
} as const satisfies Options;

export type WorkValues = Values<typeof WORK_OPTIONS>;
type ReadOptions = Pick<WorkOptions, 'concurrency' | 'isolated' | 'graceMs' | 'outbox'>;

/** By flags, and behind them by the configuration file. */
export function readWorkOptions(values: WorkValues, tasks: readonly AnyTask[], context: Context): WorkOptions {
  const { config, preset } = context;
  const read = checkWorkOptions(values, preset?.stopWithinMs);
  // The bound of a worker that has nothing but processes is the bound of those.
  const { concurrency } = read;
  const isolated = concurrency !== undefined && tasks.every(({ isolate }) => isolate !== undefined);
  const ofProcesses = {
    ...preset?.worker.isolated,
    ...(isolated && { concurrency }),
    ...read.isolated,
  };
  return {
    ...{ ...config?.options.worker, ...preset?.worker, ...read },
    ...(Object.keys(ofProcesses).length > 0 && { isolated: ofProcesses }),
    ...readQueueOptions(values, tasks),
  };
}

/** What can be said before the module with the tasks is loaded. */
export function checkWorkOptions(values: WorkValues, usualStopMs?: number): ReadOptions {
  const { concurrency, processes, grace, outbox, 'stop-within': within } = values;
  const stopMs = within === undefined ? usualStopMs : readStop(within);
  const isolated = {
    ...(processes !== undefined && { concurrency: readProcesses(processes) }),
    ...(stopMs !== undefined && { stopMs: killMs(stopMs) }),
  };
  return {
    ...(concurrency !== undefined && { concurrency: readInteger('--concurrency', concurrency) }),
    ...(Object.keys(isolated).length > 0 && { isolated }),
    ...(stopMs !== undefined && { graceMs: Math.max(0, stopMs - killMs(stopMs) - SETTLING_MS) }),
    ...(grace !== undefined && { graceMs: readSpan('--grace', grace) }),
    ...(outbox !== undefined && { outbox: readText('--outbox', outbox) }),
  };
}

const SHORTEST_STOP_MS = 2_000;
/** Of a stop, what is left to write that its jobs are handed back. */
const SETTLING_MS = 1_500;
/** Of a stop, what programs have to end at most. */
const LONGEST_KILL_MS = 2_000;

/** From the abort of a run to SIGKILL. */
const killMs = (stopMs: number): number => Math.min(LONGEST_KILL_MS, stopMs - SETTLING_MS);

function readStop(text: string): number {
  const ms = readSpan('--stop-within', text);
  if (ms >= SHORTEST_STOP_MS) return ms;
  throw misuse(`--stop-within must be 2s or longer, not ${text}.`);
}

const MOST_PROCESSES = 1_000;

function readProcesses(text: string): number {
  const count = readInteger('--processes', text);
  if (count >= 1 && count <= MOST_PROCESSES) return count;
  throw misuse(`--processes must be from 1 to ${MOST_PROCESSES}, not ${text}.`);
}
