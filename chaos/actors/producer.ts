// A producer in a process of its own, on the store or on a server.
import { randomFrom } from '../random.ts';
import { Asking } from './asking.ts';
import { endInOrder } from './ending.ts';
import { Journal } from './journal.ts';
import { open, readSettings, tellReady } from './settings.ts';

/** Calls that may be under way at once. */
const LANES = 4;

const settings = readSettings();
const { life, seed, pace, jobsPerSecond } = settings;
const journal = new Journal(settings.journal);
const stop = new AbortController();
for (const name of ['SIGTERM', 'SIGINT']) process.on(name, () => stop.abort());

const connection = await open(settings);
tellReady();
const lanes = Array.from({ length: LANES }, (_, lane) => {
  const random = randomFrom(`${seed} ${life} ${lane}`);
  return new Asking({ connection, journal, random, name: `${life}.${lane}`, leaseMs: pace.leaseMs, stop: stop.signal });
});
const asking = Promise.all(lanes.map((lane) => lane.run((LANES * 1_000) / jobsPerSecond)));
const stopped = new Promise((resolve) => stop.signal.addEventListener('abort', resolve, { once: true }));
await Promise.race([asking, stopped]);
await endInOrder([
  ['the calls under way', () => asking],
  ['the connection', () => connection.close()],
]);
