import { beforeEach, expect, test } from 'vitest';
import { Terminal } from '../testing/terminal.ts';

const LONG = 'May the agent remove all of the build output, and then fetch every dependency anew from its registry?';

let terminal: Terminal;
let job: string;
let ids: string[];

beforeEach(async () => {
  terminal = new Terminal();
  ({ job, ids } = await terminal.engine(async ({ jobs }) => {
    const { job: made } = await jobs.enqueue({ type: 'site.deploy', args: [] });
    const [lease] = await jobs.claim({ queues: ['default'] });
    const run = { id: made.id, leaseToken: lease!.token };
    const choices = ['approve', 'deny'];
    const first = await jobs.ask({ ...run, key: 'a', text: LONG, choices, details: { tool: 'Bash' } });
    const second = await jobs.ask({ ...run, key: 'b', text: 'Which branch?' });
    await jobs.settle({ ...run, outcome: { kind: 'requeued' } });
    return { job: made.id, ids: [first.id, second.id] };
  }));
  terminal.now += 120_000;
});

test('list: open ones, at a terminal within its width and by ids that the other commands take', async () => {
  terminal.isTty = true;
  terminal.columns = 80;
  const { out, raw } = await terminal.run('questions', 'list');
  const lines = raw.trimEnd().split('\n');
  expect(lines).toHaveLength(3);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours of a terminal
  for (const line of lines) expect(line.replaceAll(/\u001b\[\d+m/g, '').length).toBeLessThanOrEqual(80);
  expect(out).toContain('open');
  const listed = await terminal.run('questions', 'list', '--job', job, '--json');
  const { questions } = JSON.parse(listed.raw) as { questions: { id: string }[] };
  expect(questions.map(({ id }) => id).sort()).toEqual([...ids].sort());
  expect(await terminal.text('questions', '--status', 'answered')).toBe('\nNo answered questions.\n');
  expect((await terminal.run('questions', 'list', '--status', 'done')).err).toContain("not 'done'");
});

test('show and answer: by the begin of an id, by choice with a note, or by text', async () => {
  const [first, second] = ids as [string, string];
  const part = first.slice(0, -3);
  expect((await terminal.run('questions', 'show', part)).raw).toContain('{"tool":"Bash"}');
  expect((await terminal.run('questions', 'show', job)).err).toContain('Several questions');
  expect((await terminal.run('questions', 'answer', part, 'maybe')).err).toContain("must be one of 'approve', 'deny'");
  const answered = await terminal.json('questions', 'answer', part, 'approve', '--note', 'But only once.');
  const answer = { choice: 'approve', text: 'But only once.', by: 'cli' };
  expect(answered).toMatchObject({ question: { status: 'answered', answer } });
  const again = await terminal.run('questions', 'answer', first, 'deny');
  expect(again).toMatchObject({ err: expect.stringContaining("was answered by 'cli'") });
  expect(again.code).not.toBe(0);
  expect((await terminal.run('questions', 'answer', second, 'main')).code).toBe(0);
  expect((await terminal.run('questions', 'show', second)).raw).toMatch(/text +main/);
  expect((await terminal.run('questions', 'show', `${job}.000000000000`)).err).toContain('There is no question');
});

test("a job's next question: its id may begin as those that are answered", async () => {
  const [first, second] = ids as [string, string];
  const both = await terminal.run('questions', 'answer', job, 'main');
  expect(both.code).toBe(2);
  expect(both.err).toContain('(open: Which branch?)');
  expect(both.err).toContain('(open: May the agent remove all of the build ou)');
  expect(both.err).not.toContain(first);
  await terminal.json('questions', 'answer', first, 'approve');
  expect((await terminal.run('questions', 'show', job.slice(0, 13))).raw).toContain('Which branch?');
  terminal.columns = 200;
  const [, line] = (await terminal.run('questions', 'list', '--status', 'answered')).raw.split('\n');
  const shown = line!.split(' ')[0]!;
  expect(first.startsWith(shown) && !second.startsWith(shown)).toBe(true);
  expect(await terminal.json('questions', 'answer', job.slice(0, 13), 'main')).toMatchObject({
    question: { id: terminal.stable(second), status: 'answered' },
  });
  const none = await terminal.run('questions', 'answer', job, 'again');
  expect(none.err).toContain('(answered: Which branch?)');
});
