// A worker in a process of its own, on the store or on a server.
import { silentLogger } from '@waybill/core';
import { Worker } from 'waybill';
import { randomFrom } from '../random.ts';
import { endInOrder } from './ending.ts';
import { noted, tasksFor } from './handler.ts';
import { Journal } from './journal.ts';
import { settleLate } from './late-settler.ts';
import { open, readSettings, tellReady } from './settings.ts';

const settings = readSettings();
const { life, seed, pace } = settings;
const journal = new Journal(settings.journal);
const random = randomFrom(`${seed} ${life}`);
const stop = new AbortController();
for (const name of ['SIGTERM', 'SIGINT']) process.on(name, () => stop.abort());

const connection = await open(settings);
const worker = new Worker({
  jobs: noted(connection.jobs, journal, random),
  events: connection.events,
  tasks: tasksFor(journal),
  id: life.replace('#', '-'),
  leaseMs: pace.leaseMs,
  heartbeatMs: Math.floor(pace.leaseMs / 3),
  ...{ concurrency: 8, waitMs: 3_000, graceMs: 5_000 },
  logger: silentLogger,
});
worker.start();
const late = settleLate({ jobs: connection.jobs, journal, random, leaseMs: pace.lateLeaseMs }, stop.signal);
tellReady();
stop.signal.addEventListener('abort', () =>
  endInOrder([
    ['the worker', () => worker.stop()],
    ['what is settled late', () => late],
    ['the connection', () => connection.close()],
  ]),
);
