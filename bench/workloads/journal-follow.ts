import { get } from 'node:http';
import { engine, type NewEntry, type Waybill } from '@waybill/core';
import { connect } from 'waybill';
import { openStoreAt } from '../embedded.ts';
import { BenchServer } from '../http/server.ts';
import { tableOf } from '../report.ts';
import { median, type Result, type Run, round, type Workload } from '../result.ts';
import { timeFollowers } from './following.ts';
import { lineOf } from './journal.ts';

/** 200 followers that all parse what they get are one process here: more calls would time that process. */
const CALLS_OVER_HTTP = 10;
/** More than the sockets of a stuck follower take, so that it is stuck from the start and not only at the end. */
const BEFORE = { entries: 256, bytes: 64_000 };

interface Manner {
  /** Whether the writer has a connection of its own, as another process has, and is heard of by the file alone. */
  apart: boolean;
  /** How many more there are that take one entry and then no other. */
  stuck: number;
}

const embedded =
  ({ apart, stuck }: Manner): Run =>
  async ({ store, scale }) => {
    const reader = engine({ store: await openStoreAt(store) });
    const writer = apart ? engine({ store: await openStoreAt(store) }) : reader;
    const settings = apart ? 'two connections' : 'one connection';
    const stick = (id: string, signal: AbortSignal) => askOnce(reader, id, signal);
    try {
      return await timeFollowers({ reader, writer, callsPerSecond: 50, stick, stuck, settings }, scale);
    } finally {
      await reader.close();
      if (apart) await writer.close();
    }
  };

/** Asks for the first entry, and never again. */
async function askOnce(waybill: Waybill, id: string, signal: AbortSignal): Promise<void> {
  const live = Promise.withResolvers<void>();
  const said = waybill.jobs.follow(id, { signal, onLive: () => live.resolve() })[Symbol.asyncIterator]();
  void said.next().catch(() => {});
  await live.promise;
}

/** Server, writer and followers, each follower with a connection of its own. */
const overHttp =
  (stuck: number): Run =>
  async ({ store, scale }) => {
    const server = await BenchServer.waybill(store);
    const [reader, writer] = [await connect(server.url), await connect(server.url)];
    const stick = (id: string, signal: AbortSignal) => neverRead(server.url, id, signal);
    const before = Array.from(
      { length: BEFORE.entries },
      (_, n): NewEntry => ({ sequence: n + 1, type: 'output', output: Buffer.alloc(BEFORE.bytes, lineOf(n)) }),
    );
    const settings = 'server in a process of its own';
    const given = { reader, writer, callsPerSecond: CALLS_OVER_HTTP, before, stick, stuck, settings };
    try {
      return await timeFollowers(given, scale);
    } finally {
      await reader.close();
      await writer.close();
      await server.stop();
    }
  };

/** Reads nothing of the answer. A server that cuts it off gets it back, so that it is stuck all the time. */
function neverRead(url: string, id: string, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const begin = () => {
      if (signal.aborted) return;
      const headers = { accept: 'text/event-stream' };
      const request = get(`${url}/ojs/v1/jobs/${id}/journal`, { headers, signal, agent: false }, (answer) => {
        if (answer.statusCode !== 200) reject(new Error(`The server answered ${answer.statusCode}.`));
        answer.pause();
        answer.socket.once('close', begin);
        resolve();
      });
      request.on('error', (error) => (signal.aborted ? undefined : reject(error)));
    };
    begin();
  });
}

const PAIRS = [
  ['beside-stuck', 'two-connections'],
  ['server-beside-stuck', 'server'],
] as const;

/** Asked of a quiet machine: the median of a server's followers, and what one stuck follower may add to it. */
const ASKED = { medianMs: 50, addedMs: 5 };

/** What stuck followers do to the others is judged by milliseconds, not by a ratio. */
function report(workload: string, systems: readonly string[], results: readonly Result[]): string {
  const middle = (system: string) =>
    median(results.filter((result) => result.system === system).map(({ p50_ms }) => p50_ms!));
  const told = PAIRS.filter((pair) => pair.every((system) => systems.includes(system))).map(
    ([stuck, free]) =>
      `  ${stuck}: median ${round(middle(stuck) - middle(free))} ms more than ${free} (asked: less than ${ASKED.addedMs})`,
  );
  if (systems.includes('server'))
    told.unshift(
      `  server: median ${round(middle('server'))} ms for each follower (asked: less than ${ASKED.medianMs})`,
    );
  return [tableOf(workload, systems, results, 'two-connections').replaceAll(/ jobs\b/g, ' entries'), ...told].join(
    '\n',
  );
}

export const journalFollow: Workload = {
  systems: {
    'one-connection': embedded({ apart: false, stuck: 0 }),
    'two-connections': embedded({ apart: true, stuck: 0 }),
    'beside-stuck': embedded({ apart: true, stuck: 1 }),
    'beside-20-stuck': embedded({ apart: true, stuck: 20 }),
    server: overHttp(0),
    'server-beside-stuck': overHttp(1),
  },
  yardstick: 'two-connections',
  report,
};
