import { existsSync, openSync, readFileSync, truncateSync, writeSync } from 'node:fs';
import { silentLogger } from '@waybill/core';
import { connect } from '../sdk/connect.ts';
import type { JournalReaderSettings, ReaderNote } from './journal-task.ts';

/**
 * Follows jobs over HTTP in a process of its own, to be killed. An entry and its cursor are one line in a file, written by
 * one call: the next process goes on exactly behind what this one has kept.
 */
const { url, jobs, notes } = JSON.parse(process.argv[2]!) as JournalReaderSettings;

const cursors = new Map<string, string>();
const ended = new Set<string>();
if (existsSync(notes)) {
  const text = readFileSync(notes, 'utf8');
  const whole = text.slice(0, text.lastIndexOf('\n') + 1);
  truncateSync(notes, Buffer.byteLength(whole));
  for (const line of whole.split('\n').filter((one) => one !== '')) {
    const { job, kind, cursor } = JSON.parse(line) as ReaderNote;
    if (kind === 'end') ended.add(job);
    if (cursor !== undefined) cursors.set(job, cursor);
  }
}
const file = openSync(notes, 'a');
const note = (line: ReaderNote) => writeSync(file, `${JSON.stringify(line)}\n`);

const waybill = await connect(url, { logger: silentLogger });
const stopping = new AbortController();
process.once('SIGTERM', () => stopping.abort());
// Keeps the process alive, too, when there is nothing left to follow: its end is never taken for a crash.
process.once('disconnect', () => stopping.abort());
process.send?.('ready');
const left = jobs.filter((job) => !ended.has(job));
if (left.some((job) => cursors.has(job))) process.send?.('resumed');

await Promise.all(
  left.map(async (job) => {
    const cursor = cursors.get(job);
    const onMissed = () => note({ job, kind: 'missed' });
    const query = { signal: stopping.signal, onMissed, ...(cursor !== undefined && { cursor }) };
    for await (const said of waybill.jobs.follow(job, query)) {
      if (said.kind !== 'entry') continue;
      const { run, sequence, data } = said.entry;
      note({ job, kind: 'entry', cursor: said.cursor, run, sequence, data });
      process.send?.('end');
    }
    if (!stopping.signal.aborted) note({ job, kind: 'end' });
  }),
);
if (!stopping.signal.aborted) process.send?.('finished');
if (!stopping.signal.aborted)
  await new Promise((resolve) => stopping.signal.addEventListener('abort', resolve, { once: true }));
await waybill.close();
process.disconnect?.();
