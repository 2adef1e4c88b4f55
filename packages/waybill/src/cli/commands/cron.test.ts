import { expect, test } from 'vitest';
import { Terminal } from '../testing/terminal.ts';

test('add, list, pause, resume and remove', async () => {
  const terminal = new Terminal();
  expect(await terminal.text('cron', 'list', '--store', 'sqlite::memory:')).toBe('\nNo schedules.\n');
  const add = ['cron', 'add', 'report', '0 9 * * MON-FRI', '{"kind":"daily"}', '--type', 'report.make'];
  expect(await terminal.text(...add, '--timezone', 'Europe/Berlin', '--queue', 'reports')).toMatchInlineSnapshot(`
    "
    report fires next at 2030-01-01T08:00:00.000Z
    "
  `);
  expect(
    await terminal.text('cron', 'add', 'cleanup', '@daily', '--type', 'files.clean', '--paused'),
  ).toMatchInlineSnapshot(`
    "
    cleanup is paused
    "
  `);
  expect(await terminal.text('cron', 'list')).toMatchInlineSnapshot(`
    "
    NAME     EXPRESSION       TIMEZONE       TYPE         STATUS  NEXT   LAST  RUNS
    cleanup  @daily           UTC            files.clean  paused  -      -        0
    report   0 9 * * MON-FRI  Europe/Berlin  report.make  active  in 8h  -        0
    "
  `);
  expect(await terminal.json('cron', 'pause', 'report')).toMatchInlineSnapshot(`
    {
      "cron": {
        "catch_up_limit": 10,
        "created_at": "2030-01-01T00:00:00.000Z",
        "enabled": false,
        "expression": "0 9 * * MON-FRI",
        "job_template": {
          "args": [
            {
              "kind": "daily",
            },
          ],
          "options": {
            "queue": "reports",
          },
          "type": "report.make",
        },
        "misfire_policy": "run_once",
        "name": "report",
        "overlap_policy": "skip",
        "run_count": 0,
        "timezone": "Europe/Berlin",
      },
    }
  `);
  expect(await terminal.text('cron', 'resume', 'report')).toMatchInlineSnapshot(`
    "
    report fires next at 2030-01-01T08:00:00.000Z
    "
  `);
  expect(await terminal.text('cron', 'remove', 'report')).toMatchInlineSnapshot(`
    "
    report is removed
    "
  `);
  expect(await terminal.text('cron', 'remove', 'report')).toMatchInlineSnapshot(`
    "
    exit 7
    waybill: There is no cron 'report'.
    "
  `);
  expect(await terminal.json('cron')).toMatchObject({ crons: [{ name: 'cleanup', enabled: false }], count: 1 });
});

test.each([
  [['report', '@daily'], 2, '--type'],
  [['report', 'nonsense', '--type', 'a.b'], 4, 'five fields'],
  [['report', '@daily', '--type', 'a.b', '--overlap', 'never'], 2, '--overlap'],
])('cron add %j ends with %d', async (args, code, text) => {
  const { code: ended, err } = await new Terminal().run('cron', 'add', ...args);
  expect({ ended, err }).toEqual({ ended: code, err: expect.stringContaining(text) });
});
