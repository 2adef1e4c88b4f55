import { stripVTControlCharacters } from 'node:util';
import { beforeEach, expect, test } from 'vitest';
import { Terminal } from '../testing/terminal.ts';
import { widthOf } from '../text-width.ts';

let terminal: Terminal;
beforeEach(() => {
  terminal = new Terminal();
});

const limited = { queue: 'mail', rate_limit: { key: 'smtp', concurrency: 1 } };

/** A job that waits for a limit in a queue that is paused. */
async function parked(): Promise<string> {
  return terminal.engine(async ({ jobs, queues }) => {
    await jobs.enqueue({ type: 'mail.send', args: [], options: limited });
    await jobs.claim({ queues: ['mail'], workerId: 'worker-1' });
    const { job } = await jobs.enqueue({ type: 'mail.send', args: [], options: limited });
    await queues.pause('mail');
    return job.id;
  });
}

test('all reasons, who holds the limit, and what to do', async () => {
  const id = await parked();
  expect(await terminal.text('explain', id)).toMatchInlineSnapshot(`
    "
    ID-1................................ available

      queue_paused
        Its queue 'mail' is paused: it takes jobs and gives none.
        → waybill queues resume mail

      limit
        It waits for a slot of the limit 'smtp': 1 of 1 slots are held, and 1 job waits.
        - ID-2................................ mail.send active on worker-1
        → To change the limit: PUT /ojs/v1/rate-limits/smtp
    "
  `);
  expect(JSON.parse((await terminal.run('explain', id, '--json')).raw)).toMatchObject({
    job_id: id,
    state: 'available',
    reasons: [
      { code: 'queue_paused', hint: 'waybill queues resume mail', details: { queue: 'mail' } },
      { code: 'limit', jobs: [{ state: 'active', worker_id: 'worker-1' }] },
    ],
  });
});

test('a moment that it waits for is told as time from now', async () => {
  const { raw } = await terminal.run('enqueue', 'mail.send', '--delay', '90m', '--json');
  const { id } = JSON.parse(raw).job;
  expect(await terminal.text('explain', id.slice(0, 13))).toMatchInlineSnapshot(`
    "
    ID-1................................ scheduled

      scheduled
        It starts at 2030-01-01T01:30:00.000Z at the earliest. (in 1h 30m)
    "
  `);
});

test('lines fit a terminal of 80 columns, and are whole in a pipe', async () => {
  const id = await parked();
  const { raw: piped } = await terminal.run('explain', id);
  terminal.isTty = true;
  terminal.columns = 80;
  const { raw } = await terminal.run('explain', id);
  expect(raw.split('\n').filter((line) => widthOf(line) > 80)).toEqual([]);
  const words = (text: string) => stripVTControlCharacters(text).split(/\s+/);
  expect(words(raw)).toEqual(words(piped));
});

test('a job that is not there is said to be not there', async () => {
  await terminal.run('enqueue', 'mail.send');
  const { code, err } = await terminal.run('explain', '01b8dac5-b400-719e-824f-17e8258bb4dd');
  expect([code, err]).toEqual([7, expect.stringContaining('There is no job')]);
});
