import type { ConfigKey } from './config-key.ts';
import { choice, list, onOrOff, span, text, whole } from './kinds.ts';

const MOST_MB = 1_048_576;

const PROGRAM_KEYS: readonly ConfigKey[] = [
  {
    ...{ path: 'worker.exec', kind: onOrOff, flag: 'exec', default: 'false' },
    about: 'run the programs of `waybill exec`, as the user of this worker',
  },
  {
    ...{ path: 'worker.program.command', kind: text, flag: 'command' },
    about: 'a program that is a task; /bin/sh -c runs this text for each job',
  },
  { path: 'worker.program.type', kind: text, flag: 'type', about: 'the type of its jobs, like py.step' },
  { path: 'worker.program.cwd', kind: text, flag: 'cwd', about: 'the folder in which programs run' },
  { path: 'worker.program.timeout', kind: span, flag: 'timeout', about: 'how long a program may run' },
  {
    ...{ path: 'worker.program.memoryMb', kind: whole(1, MOST_MB), flag: 'memory-mb' },
    about: 'megabytes of memory of a program and all that it starts',
  },
  {
    ...{ path: 'worker.program.cpu', kind: span, flag: 'cpu' },
    about: 'processor time of a program and all that it starts',
  },
  {
    ...{ path: 'worker.program.maxOutputMb', kind: whole(1, MOST_MB), flag: 'max-output-mb', default: '64' },
    about: 'megabytes that a program may print',
  },
  {
    ...{ path: 'worker.program.inheritEnv', kind: list, flag: 'inherit-env' },
    about: 'variables that programs get besides PATH, LANG and a few more',
  },
];

export const WORKER_KEYS: readonly ConfigKey[] = [
  { path: 'worker.module', kind: text, option: 'module', about: 'the ES module that exports the tasks' },
  {
    ...{ path: 'worker.concurrency', kind: whole(1, 1_000), flag: 'concurrency', default: '10' },
    about: 'handlers at a time',
  },
  {
    ...{ path: 'worker.processes', kind: whole(1, 1_000), flag: 'processes' },
    ...{ default: '3, or concurrency where all have', about: 'runs at a time that have processes of their own' },
  },
  {
    ...{ path: 'worker.queues', kind: list, flag: 'queues', default: 'those of the tasks' },
    about: 'queues, as a list, or by name with their weights',
  },
  { path: 'worker.queues.*', kind: whole(1, 1_000), about: 'the weight of a queue' },
  { path: 'worker.queues.*.weight', kind: whole(1, 1_000), default: '1', about: 'the weight of a queue' },
  { path: 'worker.queues.*.concurrency', kind: whole(1, 1_000), about: 'handlers of this queue at a time' },
  {
    ...{ path: 'worker.bounds.*', kind: whole(1, 1_000), flag: 'bounds' },
    about: 'handlers at a time of single queues, by name',
  },
  {
    ...{ path: 'worker.order', kind: choice('fair', 'strict'), flag: 'order', default: 'fair' },
    about: 'fair: by weight; strict: an earlier queue always goes first',
  },
  {
    ...{ path: 'worker.grace', kind: span, flag: 'grace', default: '25s' },
    about: 'how long a stop waits for running handlers',
  },
  {
    ...{ path: 'worker.stopWithin', kind: span, flag: 'stop-within' },
    about: 'how long a stop takes at most, ending what still runs included; at least 2s',
  },
  { path: 'worker.lease', kind: span, option: 'worker.leaseMs', default: '30s', about: 'lease of a run' },
  {
    ...{ path: 'worker.heartbeat', kind: span, option: 'worker.heartbeatMs', default: '20s' },
    about: 'how often a lease is extended; less than the lease',
  },
  {
    ...{ path: 'worker.prefetch', kind: whole(0, 1_000), option: 'worker.prefetch', default: 'as the runs allow' },
    about: 'jobs that are claimed ahead of need',
  },
  {
    ...{ path: 'worker.outbox', kind: text, flag: 'outbox', default: 'none' },
    about: 'a folder in which what runs say is durable before it is sent',
  },
  ...PROGRAM_KEYS,
  { path: 'worker.tenant', kind: text, env: 'WAYBILL_TENANT', flag: 'tenant', about: 'whose jobs `work` runs' },
  {
    ...{ path: 'worker.key', kind: text, env: 'WAYBILL_KEY', flag: 'key', secret: true },
    about: 'the API key of `work`, where the store is a server',
  },
];
