import { beforeEach, expect, test } from 'vitest';
import { openStore } from '../../connect/open-store.ts';
import { Terminal } from '../testing/terminal.ts';

let terminal: Terminal;
beforeEach(async () => {
  terminal = new Terminal();
  await terminal.run('enqueue', 'a.b', '--queue', 'one');
  await terminal.run('enqueue', 'c.d', '--queue', 'two');
  await terminal.settle({ kind: 'completed', result: null }, { queue: 'one', ms: 20 });
});

/** Presses Ctrl-C after so many lines. */
function stopAfter(count: number): void {
  let lines = 0;
  terminal.onOutput = (text) => {
    lines += text.split('\n').length - 1;
    if (lines >= count) terminal.interruption.abort();
  };
}

test('from the start', async () => {
  stopAfter(4);
  expect(await terminal.text('tail', '--since', 'start')).toMatchInlineSnapshot(`
    "
    00:00:00.000 a.b ID-1................................ enqueued
    00:00:00.000 c.d ID-2................................ enqueued
    00:00:00.000 a.b ID-1................................ started #1 {"worker_id":"worker-1"}
    00:00:00.020 a.b ID-1................................ completed #1 {"duration_ms":20}
    "
  `);
});

test('filters by queue, type, job and event', async () => {
  await terminal.run('jobs', 'list');
  for (const [args, count] of [
    [['--queue', 'two'], 1],
    [['--type', 'c.d'], 1],
    [['--job', terminal.id(1)], 3],
    [['--event', 'started,job.completed'], 2],
  ] as const) {
    terminal.interruption = new AbortController();
    stopAfter(count);
    const { code, out } = await terminal.run('tail', '--since', 'start', ...args);
    expect({ code, lines: out.split('\n').length - 1 }).toEqual({ code: 0, lines: count });
  }
});

test('--json: a line per event, and its cursor goes on behind it', async () => {
  stopAfter(4);
  const { out } = await terminal.run('tail', '--since', 'start', '--json');
  const events = out
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { type: string; cursor: string });
  expect(events.map(({ type }) => type)).toEqual(['job.enqueued', 'job.enqueued', 'job.started', 'job.completed']);
  terminal.interruption = new AbortController();
  stopAfter(1);
  const { out: rest } = await terminal.run('tail', '--since', events[2]!.cursor, '--json');
  expect(
    rest
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line)),
  ).toMatchObject([{ type: 'job.completed' }]);
});

test('from now on, live', async () => {
  stopAfter(1);
  const [shown] = await Promise.all([
    terminal.text('tail', '--type', 'live.one'),
    // Again and again, since nothing tells when the tail has begun.
    (async () => {
      while (!terminal.interruption.signal.aborted) {
        await terminal.engine(({ jobs }) => jobs.enqueue({ type: 'live.one', args: [] }));
      }
    })(),
  ]);
  expect(shown).toMatch(/live\.one \S+ enqueued/);
});

test('a cursor that is none is refused', async () => {
  expect(await terminal.text('tail', '--since', 'yesterday')).toMatchInlineSnapshot(`
    "
    exit 2
    waybill: The event cursor was not made by this store.
      waybill tail --help tells how to use it.
    "
  `);
});

test('says where retention has removed events that nobody has read', async () => {
  const since = await terminal.engine(({ events }) => events.read({ limit: 1 }));
  const store = await openStore(terminal.store);
  await store.prune({ finishedBefore: 0, deadBefore: 0, eventsBefore: terminal.now + 1, limit: 100 });
  await store.close();
  await terminal.run('enqueue', 'e.f');
  stopAfter(1);
  expect(await terminal.text('tail', '--since', since.cursor)).toMatchInlineSnapshot(`
    "
    00:00:00.020 e.f ID-3................................ enqueued
    waybill: Events were removed by retention before they were read here.
    "
  `);
});
