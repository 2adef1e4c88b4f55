import { stripVTControlCharacters } from 'node:util';
import { describe, expect, test } from 'vitest';
import { COMMANDS } from './commands/index.ts';
import { Terminal } from './testing/terminal.ts';
import { clipped, widthOf, wrapped } from './text-width.ts';

const LONG = 'a-rather-long-name-such-as-generated-ones-have-it-with-a-tenant-and-a-region';
const TYPE = `reports.${'quarterly.'.repeat(6)}make`;
const WORDS = '漢字とかな🎉 at the end of a message that goes on and on, and is longer than any terminal is wide';

/** A store in which everything has a name that is too long. */
async function crowded(): Promise<{ terminal: Terminal; names: Record<string, string> }> {
  const terminal = new Terminal();
  const input = JSON.stringify({ path: 'x'.repeat(200), words: WORDS });
  const retry = '{"max_attempts":1,"on_exhaustion":"dead_letter"}';
  await terminal.run('enqueue', TYPE, input, '--queue', LONG, '--retry', retry);
  await terminal.settle({ kind: 'failed', error: { code: 'disk_full', message: WORDS } }, { queue: LONG });
  for (const _ of [1, 2, 3]) await terminal.run('enqueue', TYPE, input, '--queue', LONG);
  terminal.now += 123_456_789;
  await terminal.run('cron', 'add', LONG, '17 3 1,15 * MON-FRI', '--type', TYPE, '--timezone', 'America/Indiana/Knox');
  await terminal.engine(async ({ queues, workflows, audit }) => {
    await queues.setLimit(LONG, { concurrency: 1_000, rate: { limit: 100_000, periodMs: 3_600_000 } });
    const node = (name: string, ...after: string[]) => ({
      ...{ id: `${name}-${LONG}`, depends_on: after.map((one) => `${one}-${LONG}`) },
      ...{ type: TYPE, args: [], options: { queue: 'other' } },
    });
    await audit!.record({ principal: LONG, action: 'queues.setLimit', target: LONG, outcome: 'invalid_request' });
    const nodes = [node('first'), node('second', 'first'), node('third', 'first', 'second')];
    await workflows.create({ name: LONG, nodes });
  });
  await terminal.run('webhooks', 'create', `https://example.com/${LONG}?${LONG}=1`, '--queues', LONG, '--types', TYPE);
  const bounds = ['--queues', `${LONG},bulk`, '--types', TYPE, '--requests-per-minute', '6000'];
  await terminal.run('keys', 'create', LONG, '--scopes', 'enqueue,read', ...bounds);
  const listed = async (what: string) => JSON.parse((await terminal.run(what, 'list', '--json')).raw);
  const [{ workflows }, { jobs }, { webhooks }, { keys }] = [
    await listed('workflows'),
    await listed('dead'),
    await listed('webhooks'),
    await listed('keys'),
  ];
  const [node] = JSON.parse((await terminal.run('workflows', 'show', workflows[0].id, '--json')).raw).jobs;
  const names = {
    WORKFLOW: workflows[0].id,
    NODE: node.id,
    DEAD: jobs[0].id,
    WEBHOOK: webhooks[0].id,
    KEY: keys[0].id,
  };
  return { terminal, names };
}

const LINES = [
  ['jobs', 'list'],
  ['jobs', 'list', '--limit', '2'],
  ['jobs', 'show', 'DEAD'],
  ['jobs', 'show', '01940000-0000-7000-8000-000000000001'],
  ['queues', 'list'],
  ['queues', 'show', LONG],
  ['queues', 'pause', LONG],
  ['queues', 'keep', LONG, 'none'],
  ['tenants', 'limit', LONG, '--concurrency', '10', '--waiting', '1000000', '--enqueue-rate', '100000/h'],
  ['tenants', 'list'],
  ['tenants', 'show', LONG],
  ['budgets', 'set', LONG, '--usd', '50.25', '--tokens', '2000000', '--per', 'month'],
  ['budgets', 'list'],
  ['budgets', 'show', `usd:month:${LONG}`],
  ['budgets', 'remove', `usd:month:${LONG}`],
  ['dead', 'list'],
  ['dead', 'replay', '--all', '--dry-run'],
  ['cron', 'list'],
  ['cron', 'pause', LONG],
  ['workflows', 'list'],
  ['workflows', 'show', 'WORKFLOW'],
  ['explain', 'DEAD'],
  ['explain', 'NODE'],
  ['tail', '--since', 'start'],
  ['logs', 'DEAD', '--lifecycle'],
  ['keys', 'create', LONG, '--scopes', 'enqueue,read', '--queues', LONG, '--types', TYPE],
  ['keys', 'list'],
  ['keys', 'create', LONG, '--scopes', 'work', '--queues', LONG, '--print-entry'],
  ['keys', 'show', 'KEY'],
  ['keys', 'rotate', 'KEY', '--keep-old', '1h'],
  ['keys', 'revoke', 'KEY'],
  ['keys', 'revoke', 'nothing-of-the-kind'],
  ['keys', 'rotate-tokens'],
  ['audit'],
  ['webhooks', 'list'],
  ['webhooks', 'show', 'WEBHOOK'],
  ['webhooks', 'show', 'nothing-of-the-kind'],
  ['webhooks', 'test', 'WEBHOOK'],
  ['webhooks', 'redeliver', 'WEBHOOK', '--since', '1h'],
  ['webhooks', 'redeliver', 'WEBHOOK', '--event', `evt_${LONG}`],
  ['webhooks', 'pause', 'WEBHOOK'],
  ['webhooks', 'resume', 'WEBHOOK'],
  ['webhooks', 'rotate-secret', 'WEBHOOK'],
  ['webhooks', 'create', `https://example.com/${LONG}`],
  ['webhooks', 'remove', 'WEBHOOK'],
  ['doctor'],
  ['health'],
  ['health', 'NODE'],
  ['migrate'],
  ['enqueue', TYPE, '--queue', LONG],
  ['exec', '--queue', LONG, '--', 'true'],
  ['jobs', 'cancel', 'DEAD'],
  ['queues', 'lst'],
];

const tooWide = (text: string, columns: number): string[] => text.split('\n').filter((line) => widthOf(line) > columns);

describe.each([80, 120])('at a terminal of %i columns', (columns) => {
  test('D11: no command prints a line that is wider, also with long names', async () => {
    const { terminal, names } = await crowded();
    terminal.isTty = true;
    terminal.columns = columns;
    for (const line of LINES) {
      terminal.interruption = new AbortController();
      // `tail` goes on until it is interrupted; here when it has shown all.
      let shown = 0;
      terminal.onOutput = () => {
        shown += 1;
        if (line[0] === 'tail' && shown === 8) terminal.interruption.abort();
      };
      const { raw, err } = await terminal.run(...line.map((word) => names[word] ?? word));
      expect(raw + err, line.join(' ')).not.toBe('');
      expect(tooWide(raw + err, columns), line.join(' ')).toEqual([]);
    }
  });

  test.each(['', ...new Set(COMMANDS.flatMap(({ name }) => [name, name.split(' ')[0]!]))])(
    'D11: waybill %s --help fits',
    async (name) => {
      const terminal = new Terminal('sqlite::memory:');
      terminal.columns = columns;
      const { out } = await terminal.run(...name.split(' ').filter(Boolean), '--help');
      expect(out).toContain('Usage\n');
      expect(tooWide(out, columns)).toEqual([]);
    },
  );
});

test('D11: in a pipe nothing is cut', async () => {
  const { terminal, names } = await crowded();
  const show = async (...line: string[]) => (await terminal.run(...line)).raw;
  const { DEAD, WORKFLOW } = names as { DEAD: string; WORKFLOW: string };
  for (const text of [DEAD, TYPE, LONG]) expect(await show('jobs', 'list')).toContain(text);
  for (const text of [DEAD, TYPE, LONG, WORDS]) expect(await show('dead', 'list')).toContain(text);
  expect(await show('jobs', 'show', DEAD)).toContain(WORDS);
  for (const text of [LONG, '100000 per PT3600S']) expect(await show('queues', 'list')).toContain(text);
  for (const text of [LONG, TYPE, 'America/Indiana/Knox']) expect(await show('cron', 'list')).toContain(text);
  for (const text of [LONG, WORKFLOW]) expect(await show('workflows', 'list')).toContain(text);
  for (const text of [LONG, TYPE, 'third-']) expect(await show('workflows', 'show', WORKFLOW)).toContain(text);
});

test('D11: wide characters count as two, and colours as none', () => {
  expect(widthOf('漢字🎉é')).toBe(7);
  expect(widthOf('\u001b[31mred\u001b[39m')).toBe(3);
  expect(clipped('漢字漢字', 6)).toBe('漢字…');
  expect(clipped('\u001b[31mtoo long\u001b[39m', 4)).toBe('\u001b[31mtoo…\u001b[39m');
  expect(wrapped('one two three', 8)).toEqual(['one two', 'three']);
  expect(wrapped('x'.repeat(10), 4)).toEqual(['xxxx', 'xxxx', 'xx']);
  expect(stripVTControlCharacters(wrapped('\u001b[1mone two\u001b[22m', 4).join(' '))).toBe('one two');
});
