import { entryToWire, eventToWire } from '@waybill/client';
import { type JournalReadQuery, outputLoss, type Waybill } from '@waybill/core';
import { command, misuse } from '../command.ts';
import type { Context } from '../context.ts';
import { wholeId } from '../job-ids.ts';
import { history, type LogItem, played, runStarts, within } from '../log-items.ts';
import { LogLines } from '../log-lines.ts';
import { readInteger, readList, readPast } from '../read-value.ts';

export const logs = command({
  name: 'logs',
  section: 'Jobs',
  summary: 'show what the runs of a job have said',
  args: 'JOB',
  options: {
    follow: { about: 'stay, and show what comes, until the job has ended or Ctrl-C' },
    run: { value: 'N', about: 'only of this run' },
    since: { value: 'WHERE', about: 'from 5m ago, from a moment, or from a sequence on' },
    type: { value: 'TYPES', about: 'only entries of these types, like output,metric' },
    lifecycle: { about: 'also what happened to the job' },
    playback: { about: 'at the speed at which it was said' },
  },
  notes:
    'At a terminal each line begins with the time since the start of its run, and ! marks stderr. In a pipe or a file: the bytes of stdout and stderr as they are, and nothing else. With --json one entry per line.',
  run: async ({ args: [named = ''], values }, context) => {
    const { follow = false, lifecycle = false, playback = false } = values;
    if (follow && playback) throw misuse('--playback shows what was said before: leave out --follow.');
    const filter = filterOf(values, context);
    const waybill = await context.connect();
    const id = await wholeId(waybill, named);
    const signal = context.io.interrupted();
    const onMissed = () =>
      void context.io.stderr.write('waybill: Entries were removed by retention before they were read here.\n');
    const query = { ...filter, lifecycle };
    const items = follow
      ? waybill.jobs.follow(id, { ...query, signal, onMissed })
      : history(waybill, id, query, onMissed);
    const wanted = within(items, filter);
    const shown = { waybill, id, signal, follow, isFiltered: Object.keys(filter).length > 0 };
    await show(playback ? played(wanted, context.io.sleep, signal) : wanted, shown, context);
    return 0;
  },
});

interface Values {
  run?: string;
  since?: string;
  type?: string;
}

function filterOf({ run, since, type }: Values, { io }: Context): Pick<JournalReadQuery, 'run' | 'fromTime' | 'types'> {
  const isSequence = since !== undefined && /^\d+$/.test(since);
  const number = run === undefined ? undefined : readInteger('--run', run);
  if (number !== undefined && number < 1) throw misuse(`--run must be from 1 on, not ${run}.`);
  return {
    ...(number !== undefined && { run: number }),
    ...(isSequence && { fromSequence: readInteger('--since', since) }),
    ...(since !== undefined && !isSequence && { fromTime: Math.max(0, readPast('--since', since, io.now())) }),
    ...(type !== undefined && { types: readList('--type', type) }),
  };
}

interface Shown {
  waybill: Waybill;
  id: string;
  signal: AbortSignal;
  follow: boolean;
  isFiltered: boolean;
}

async function show(items: AsyncIterable<LogItem>, shown: Shown, context: Context): Promise<void> {
  const { io, isJson, style, width } = context;
  if (isJson || !io.isTty) {
    const written = isJson ? async (item: LogItem) => `${JSON.stringify(wireOf(item))}\n` : bytesWith(context);
    const { count, bytes } = await each(items, shown.signal, context, written);
    if (!shown.signal.aborted && bytes === 0) io.stderr.write(`waybill: ${await whyNothing(count, shown)}\n`);
    return;
  }
  const lines = new LogLines({ style, width, startOf: startsOf(shown) });
  const onPause = () => void io.stdout.write(lines.rest());
  const live = shown.follow ? pausing(items, () => lines.hasRest, onPause, context) : items;
  const { count } = await each(live, shown.signal, context, (item) => lines.of(item));
  io.stdout.write(count === 0 && !shown.signal.aborted ? `${await whyNothing(0, shown)}\n` : lines.rest());
}

/** A filter that matches nothing must not look like a job that has said nothing. */
async function whyNothing(count: number, { waybill, id, isFiltered }: Shown): Promise<string> {
  if (count > 0) return `A pipe shows output only, and not the other ${count} entries. Use --json to see them.`;
  if (!isFiltered) return 'Nothing was said.';
  const { run } = await waybill.jobs.get(id, { overBytes: 0 });
  return `Nothing matches --run, --since or --type. The job has had ${run === 1 ? '1 run' : `${run} runs`}.`;
}

/** A process that prompts writes no end of line: its text is shown after this pause. */
const PAUSE_MS = 300;

/** Tells where the next item takes its time, as long as something waits to be shown. */
async function* pausing(
  items: AsyncIterable<LogItem>,
  isWaiting: () => boolean,
  onPause: () => void,
  { io }: Context,
): AsyncGenerator<LogItem> {
  const reading = items[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = reading.next();
      if (isWaiting()) {
        const come = new AbortController();
        const stop = () => come.abort();
        next.then(stop, stop);
        await io.sleep(PAUSE_MS, come.signal);
        if (!come.signal.aborted) onPause();
      }
      const { done, value } = await next;
      if (done) return;
      yield value;
    }
  } finally {
    await reading.return?.();
  }
}

/** Writes no faster than it is read, so that a long journal is never in memory as a whole. */
async function each(
  items: AsyncIterable<LogItem>,
  signal: AbortSignal,
  { io }: Context,
  written: (item: LogItem) => Promise<string | Uint8Array>,
): Promise<{ count: number; bytes: number }> {
  let [count, bytes] = [0, 0];
  for await (const item of items) {
    if (signal.aborted) break;
    const text = await written(item);
    if (text.length > 0) io.stdout.write(text);
    await io.drained();
    count += 1;
    bytes += text.length;
  }
  return { count, bytes };
}

const wireOf = (item: LogItem): object => (item.kind === 'entry' ? entryToWire(item.entry) : eventToWire(item.event));

/** In a pipe the bytes stay as they are, and what is missing is said beside them. */
const bytesWith =
  (context: Context) =>
  async (item: LogItem): Promise<Uint8Array> => {
    if (item.kind !== 'entry') return new Uint8Array();
    const loss = outputLoss(item.entry);
    if (loss !== undefined) context.tell(loss);
    return item.entry.output ?? new Uint8Array();
  };

/** Read once, and again for a run that began since. */
function startsOf({ waybill, id }: Shown): (run: number) => Promise<number | undefined> {
  let known = new Map<number, number>();
  return async (run) => {
    if (!known.has(run)) known = await runStarts(waybill, id);
    return known.get(run);
  };
}
