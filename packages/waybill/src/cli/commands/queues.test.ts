import { expect, test } from 'vitest';
import { Terminal } from '../testing/terminal.ts';

test('list, show, pause and resume', async () => {
  const terminal = new Terminal();
  await terminal.run('enqueue', 'a.b', '--queue', 'email');
  await terminal.run('enqueue', 'a.b', '--queue', 'email', '--delay', '1h');
  await terminal.engine(({ queues }) =>
    queues.setLimit('reports', { concurrency: 2, rate: { limit: 10, periodMs: 60_000 } }),
  );
  terminal.now += 61_000;

  expect(await terminal.text('queues', 'pause', 'email')).toMatchInlineSnapshot(`
    "
    email is paused
    "
  `);
  expect(await terminal.text('queues')).toMatchInlineSnapshot(`
    "
    QUEUE    STATUS  AVAILABLE  ACTIVE  SCHEDULED  RETRYABLE  COMPLETED  DISCARDED  OLDEST  LIMIT
    email    paused          1       0          1          0          0          0  1m 1s   -
    reports  active          0       0          0          0          0          0  -       2 at once, 10 per PT60S
    "
  `);
  expect(await terminal.text('queues', 'show', 'email')).toMatchInlineSnapshot(`
    "
    queue      email
    status     paused
    available  1
    oldest     1m 1s
    active     0
    scheduled  1
    retryable  0
    pending    0
    completed  0
    cancelled  0
    discarded  0
    "
  `);
  expect(await terminal.json('queues', 'show', 'email')).toMatchInlineSnapshot(`
    {
      "queue": {
        "active": 0,
        "available": 1,
        "cancelled": 0,
        "completed": 0,
        "depth": 2,
        "discarded": 0,
        "name": "email",
        "oldest_age_ms": 61000,
        "oldest_at": "2030-01-01T00:00:00.000Z",
        "parked": 0,
        "paused": true,
        "pending": 0,
        "retryable": 0,
        "scheduled": 1,
        "status": "paused",
      },
    }
  `);
  expect(await terminal.json('queues', 'resume', 'email')).toMatchInlineSnapshot(`
    {
      "queue": {
        "name": "email",
        "paused": false,
        "status": "active",
      },
    }
  `);
  expect(await terminal.json('queues', 'list')).toMatchInlineSnapshot(`
    {
      "queues": [
        {
          "active": 0,
          "available": 1,
          "cancelled": 0,
          "completed": 0,
          "depth": 2,
          "discarded": 0,
          "name": "email",
          "oldest_age_ms": 61000,
          "oldest_at": "2030-01-01T00:00:00.000Z",
          "parked": 0,
          "paused": false,
          "pending": 0,
          "retryable": 0,
          "scheduled": 1,
          "status": "active",
        },
        {
          "active": 0,
          "available": 0,
          "cancelled": 0,
          "completed": 0,
          "depth": 0,
          "discarded": 0,
          "limit": {
            "concurrency": 2,
            "rate": {
              "limit": 10,
              "period": "PT60S",
              "period_ms": 60000,
            },
          },
          "name": "reports",
          "parked": 0,
          "paused": false,
          "pending": 0,
          "retryable": 0,
          "scheduled": 0,
          "status": "active",
        },
      ],
    }
  `);
  expect(await terminal.text('queues', 'show', 'nothing')).toMatchInlineSnapshot(`
    "
    exit 7
    waybill: There is no queue 'nothing'.
    "
  `);
});

test('an empty store has none', async () => {
  expect(await new Terminal('sqlite::memory:').text('queues', 'list')).toBe('\nNo queues.\n');
});

test('keep: what is left of completed jobs', async () => {
  const terminal = new Terminal();
  await terminal.run('enqueue', 'a.b', '--queue', 'clicks');
  expect(await terminal.text('queues', 'keep', 'clicks', 'none')).toMatchInlineSnapshot(`
    "
    clicks keeps nothing of completed jobs
    "
  `);
  expect(await terminal.text('queues', 'show', 'clicks')).toMatchInlineSnapshot(`
    "
    queue      clicks
    status     active
    keeps      nothing of completed jobs
    available  1
    oldest     0ms
    active     0
    scheduled  0
    retryable  0
    pending    0
    completed  0
    cancelled  0
    discarded  0
    "
  `);
  expect(await terminal.text('queues', 'keep', 'clicks', 'all', '--json')).toMatchInlineSnapshot(`
    "
    {
      "queue": {
        "name": "clicks",
        "status": "active",
        "paused": false
      }
    }
    "
  `);
  expect(await terminal.text('queues', 'keep', 'clicks', 'some')).toMatchInlineSnapshot(`
    "
    exit 2
    waybill: Say what to keep: all or none, not 'some'.
      waybill queues keep --help tells how to use it.
    "
  `);
});
