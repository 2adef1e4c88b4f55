import { engine, silentLogger, systemClock } from '@waybill/core';
import { createApp, serve } from '@waybill/server';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { openStore } from '../connect/open-store.ts';
import { Terminal } from './testing/terminal.ts';

let terminal: Terminal;
/** Three of one moment, and one of another day. */
let ids: string[];
beforeEach(async () => {
  terminal = new Terminal();
  await terminal.deadLetter('a.dead', 'boom');
  for (const type of ['a.one', 'a.two']) await terminal.run('enqueue', type);
  terminal.now += 86_400_000;
  await terminal.run('enqueue', 'a.late');
  const { jobs } = JSON.parse((await terminal.run('jobs', 'list', '--json')).raw);
  ids = jobs.map(({ id }: { id: string }) => id).reverse();
});

/** The commands that name jobs, each with a job that it does something to. */
const COMMANDS: [line: string[], job: number, prints: string][] = [
  [['jobs', 'show'], 3, 'a.late'],
  [['jobs', 'cancel'], 3, 'cancelled'],
  [['jobs', 'retry'], 0, 'starts over'],
  [['dead', 'replay'], 0, 'replayed'],
  [['dead', 'discard'], 0, 'discarded'],
  [['dead', 'replay', '--dry-run'], 0, 'would be replayed'],
];

test.each(COMMANDS)('D11: %j takes the begin of an id', async (line, job, prints) => {
  const id = ids[job]!;
  // Jobs of one moment differ only in what comes behind time and counter.
  const { code, raw } = await terminal.run(...line, id.slice(0, job === 3 ? 12 : 23).toUpperCase());
  expect([code, raw]).toEqual([0, expect.stringContaining(id)]);
  expect(raw).toContain(prints);
});

test('D11: tail --job takes the begin of an id', async () => {
  const seen: string[] = [];
  terminal.onOutput = (text) => {
    seen.push(text);
    terminal.interruption.abort();
  };
  await terminal.run('tail', '--since', 'start', '--job', ids[3]!.slice(0, 12));
  expect(seen.join('')).toContain(`a.late ${ids[3]} enqueued`);
});

test('D11: one that could mean several names them and does nothing', async () => {
  const { code, err } = await terminal.run('jobs', 'cancel', ids[0]!.slice(0, 13));
  expect(code).toBe(2);
  expect(err).toContain(`Several jobs have an id that begins with '${ids[0]!.slice(0, 13)}'.`);
  for (const id of ids.slice(0, 3)) expect(err).toContain(terminal.stable(id));
  expect(err).not.toContain(terminal.stable(ids[3]!));
  expect((await terminal.run('jobs', 'list', '--state', 'cancelled')).out).toBe('No jobs.\n');
});

test('D11: the commands for workflows take the begin of an id', async () => {
  const steps = [{ type: 'a.b', args: [] }];
  const make = () => terminal.engine(({ workflows }) => workflows.create({ type: 'chain', steps }));
  const [one, two] = [(await make()).id, (await make()).id];
  const both = await terminal.run('workflows', 'show', one.slice(0, 13));
  expect([both.code, both.err]).toEqual([2, expect.stringContaining('Several workflows have an id')]);
  for (const id of [one, two]) expect(both.err).toContain(terminal.stable(id));
  expect((await terminal.run('workflows', 'show', one.slice(0, 23))).raw).toContain(one);
  expect((await terminal.run('workflows', 'cancel', one.slice(0, 23))).raw).toBe(`${one} cancelled\n`);
  terminal.columns = 80;
  const { raw } = await terminal.run('workflows', 'list');
  expect(raw).not.toContain(one);
  expect(raw).toContain(one.slice(0, 13));
});

test('D11: one that is too short is refused, and one that no job has is not found', async () => {
  const short = await terminal.run('jobs', 'show', ids[0]!.slice(0, 3));
  expect([short.code, short.err]).toEqual([2, expect.stringContaining('give at least 4 characters')]);
  const unknown = await terminal.run('jobs', 'show', 'ffffffff-f');
  expect([unknown.code, unknown.err]).toEqual([
    7,
    expect.stringContaining("No jobs have an id that begins with 'ffffffff-f'."),
  ]);
});

test('D11: a server takes them too', async () => {
  const clock = { ...systemClock, now: () => terminal.now };
  const waybill = engine({ store: await openStore(terminal.store, { clock }), maintenance: false });
  const listening = await serve(createApp({ waybill, logger: silentLogger, version: 'test' }), { port: 0 });
  onTestFinished(async () => {
    await listening.close();
    await waybill.close();
  });
  const remote = ['--store', listening.url];
  const shown = await terminal.run('jobs', 'show', ids[3]!.slice(0, 12), ...remote);
  expect([shown.code, shown.raw]).toEqual([0, expect.stringContaining(ids[3]!)]);
  expect((await terminal.run('jobs', 'show', ids[0]!.slice(0, 13), ...remote)).code).toBe(2);
  const flow = await waybill.workflows.create({ type: 'chain', steps: [{ type: 'a.b', args: [] }] });
  expect((await terminal.run('workflows', 'show', flow.id.slice(0, 12), ...remote)).raw).toContain(flow.id);
});

test('D11: a list at a terminal shows prefixes that differ, and each of them is taken', async () => {
  terminal.columns = 80;
  const { raw } = await terminal.run('jobs', 'list');
  const shown = raw
    .split('\n')
    .slice(1, -1)
    .map((line) => line.split(' ')[0]!);
  expect(new Set(shown).size).toBe(4);
  expect(shown.every((prefix) => prefix.length < 36)).toBe(true);
  for (const prefix of shown) expect((await terminal.run('jobs', 'show', prefix)).code).toBe(0);
});
