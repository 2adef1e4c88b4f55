// A worker in a process of its own, on the store or on a server.
import { silentLogger } from '@waybill/core';
import { Worker } from 'waybill';
import { randomFrom } from '../random.ts';
import { noted, tasksFor } from './handler.ts';
import { Journal } from './journal.ts';
import { settleLate } from './late-settler.ts';
import { open, readSettings, tellReady } from './settings.ts';
import { HEARTBEAT_MS, LEASE_MS } from './timing.ts';

const { life, url, journal: path, seed } = readSettings();
const journal = new Journal(path);
const random = randomFrom(`${seed} ${life}`);
const stop = new AbortController();
for (const name of ['SIGTERM', 'SIGINT']) process.on(name, () => stop.abort());

const connection = await open(url);
const worker = new Worker({
  jobs: noted(connection.jobs, journal, random),
  events: connection.events,
  tasks: tasksFor(journal),
  id: life.replace('#', '-'),
  ...{ leaseMs: LEASE_MS, heartbeatMs: HEARTBEAT_MS, concurrency: 8, waitMs: 3_000, graceMs: 5_000 },
  logger: silentLogger,
});
worker.start();
const late = settleLate(connection.jobs, journal, random, stop.signal);
tellReady();
stop.signal.addEventListener('abort', async () => {
  await Promise.all([worker.stop(), late]);
  await connection.close();
});
