import { beforeEach, expect, test } from 'vitest';
import { Terminal } from '../testing/terminal.ts';

let terminal: Terminal;
beforeEach(async () => {
  terminal = new Terminal();
  await terminal.deadLetter('email.send', 'smtp', 'email');
  terminal.now += 3_600_000;
  await terminal.deadLetter('email.send', 'smtp');
  terminal.now += 1_000;
  await terminal.deadLetter('report.make', 'disk_full');
  terminal.now += 60_000;
});

test('list: with the error of each', async () => {
  expect(await terminal.text('dead', 'list')).toMatchInlineSnapshot(`
    "
    ID                                    TYPE         QUEUE    STATE      ATTEMPT  FAILED     ERROR
    ID-3................................  report.make  default  discarded      1/1  1m ago     disk_full: It was disk_full.
    ID-2................................  email.send   default  discarded      1/1  1m 1s ago  smtp: It was smtp.
    ID-1................................  email.send   email    discarded      1/1  1h 1m ago  smtp: It was smtp.
    "
  `);
  expect(await terminal.text('dead', '--error', 'smtp', '--since', '10m')).toMatchInlineSnapshot(`
    "
    ID                                    TYPE        QUEUE    STATE      ATTEMPT  FAILED     ERROR
    ID-2................................  email.send  default  discarded      1/1  1m 1s ago  smtp: It was smtp.
    "
  `);
  expect(await terminal.text('dead', 'list', '--type', 'no.such')).toBe('\nNo dead letters.\n');
  expect(await terminal.json('dead', 'list', '--queue', 'email')).toMatchObject({
    jobs: [{ queue: 'email', dead_letter: true, error: { code: 'smtp' } }],
    pagination: { limit: 50, has_more: false },
  });
});

test('replay and discard by id', async () => {
  await terminal.run('dead', 'list');
  expect(await terminal.text('dead', 'replay', terminal.id(1), '--dry-run')).toMatchInlineSnapshot(`
    "
    ID-1................................ would be replayed
    "
  `);
  expect(await terminal.text('dead', 'replay', terminal.id(1))).toMatchInlineSnapshot(`
    "
    ID-1................................ replayed
    "
  `);
  expect(await terminal.text('dead', 'discard', terminal.id(2), terminal.id(1))).toMatchInlineSnapshot(`
    "
    exit 8
    ID-2................................ discarded
    waybill: Job ID-1................................ is available and no dead letter.
      Dead letters are jobs that used up their attempts with on_exhaustion: dead_letter.
    "
  `);
});

test('--dry-run counts and changes nothing', async () => {
  expect(await terminal.text('dead', 'replay', '--all', '--error', 'smtp', '--dry-run')).toMatchInlineSnapshot(`
    "
    2 dead letters would be replayed
    "
  `);
  expect(await terminal.json('dead', 'discard', '--all', '--dry-run')).toEqual({ matched: 3 });
});

test('where nobody can be asked --all needs --yes', async () => {
  expect(await terminal.text('dead', 'discard', '--all')).toMatchInlineSnapshot(`
    "
    exit 2
    waybill: Discard all that match? Nobody is there to be asked.
      Look with --dry-run first, then say --yes.
    "
  `);
  expect(await terminal.text('dead', 'discard', '--all', '--queue', 'email', '--yes')).toMatchInlineSnapshot(`
    "
    1 dead letter discarded
    "
  `);
  expect(await terminal.json('dead', 'replay', '--all', '--yes')).toEqual({ retried: 2, has_more: false });
  expect(await terminal.json('dead', 'replay', '--all', '--yes')).toEqual({ retried: 0, has_more: false });
});

test('at a terminal it asks, and shows how far it is', async () => {
  terminal.answer = '';
  expect(await terminal.text('dead', 'replay', '--all')).toMatchInlineSnapshot(`
    "
    exit 1
    Nothing was done.
    "
  `);
  terminal.answer = 'y';
  expect(await terminal.text('dead', 'replay', '--all')).toMatchInlineSnapshot(`
    "
    3 dead letters replayed
    "
  `);
  expect(terminal.asked).toEqual(['Replay 3 dead letters? [y/N] ', 'Replay 3 dead letters? [y/N] ']);
  expect(terminal.progress).toEqual(['3 of 3 replayed', '']);
});

test('Ctrl-C ends the work between slices with 130', async () => {
  terminal.interruption.abort();
  expect(await terminal.text('dead', 'replay', '--all', '--yes')).toMatchInlineSnapshot(`
    "
    exit 130
    0 dead letters replayed
    "
  `);
});

test.each([
  [['replay'], 'say --all'],
  [['replay', '--queue', 'email'], 'Filters need --all'],
  [['discard', 'an-id', '--all'], 'not both'],
  [['discard', '--all', '--since', 'yesterday'], '--since'],
  [['discard', '--all', '--yes', '--queue', ''], 'must not be empty'],
  [['discard', '--all', '--yes', '--error', ''], 'must not be empty'],
])('dead %j is wrong usage', async (args, text) => {
  const { code, err } = await terminal.run('dead', ...args);
  expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining(text) });
});
