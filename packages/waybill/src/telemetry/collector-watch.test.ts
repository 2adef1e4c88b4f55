import { expect, test } from 'vitest';
import { CollectorWatch } from './collector-watch.ts';

/** An exporter whose exports come to what the test says next. */
function bench() {
  const lines: string[] = [];
  const clock = { now: 0 };
  const results: (Error | undefined)[] = [];
  const log = (level: string) => (fields: object, message: string) =>
    void lines.push(`${level} ${JSON.stringify(fields)} ${message.split('.', 1)[0]}`);
  const watch = new CollectorWatch(
    { signal: 'traces', endpoint: 'http://collector' },
    { info: log('info'), warn: log('warn') },
    () => clock.now,
  );
  let sent = 0;
  const exporter = watch.over({
    export: (_items: never, done: (result: { code: number; error?: Error }) => void) => {
      sent++;
      const error = results.shift();
      done(error ? { code: 1, error } : { code: 0 });
    },
  });
  const send = (...outcomes: (Error | undefined)[]): number[] => {
    results.push(...outcomes);
    return outcomes.map(() => {
      let code = -1;
      exporter.export(undefined as never, (result) => {
        code = result.code;
      });
      return code;
    });
  };
  return { watch, lines, clock, send, count: () => sent };
}

const refused = Object.assign(new Error('connect to http://user:secret@collector'), { code: 'ECONNREFUSED' });

test('an outage is two lines, however long it is; the exporter still hears of each failure', () => {
  const { lines, send } = bench();
  expect(send(undefined, refused, refused, refused, undefined, undefined)).toEqual([0, 1, 1, 1, 0, 0]);
  expect(lines).toEqual([
    'warn {"signal":"traces","endpoint":"http://collector","reason":"ECONNREFUSED"} The collector takes no telemetry',
    'info {"signal":"traces","endpoint":"http://collector"} The collector takes telemetry again',
  ]);
});

test('a collector that comes and goes is told of once a minute', () => {
  const { lines, send, clock } = bench();
  for (let n = 0; n < 50; n++) {
    send(refused, undefined);
    clock.now += 1_000;
  }
  expect(lines).toHaveLength(2);
  clock.now += 60_000;
  send(refused);
  expect(lines).toHaveLength(3);
});

test('an export that takes too long is cut off, and everything is at the end', async () => {
  const watch = new CollectorWatch({ signal: 'traces', endpoint: 'x' }, { info: () => {}, warn: () => {} });
  const cut = Promise.withResolvers<void>();
  let cuts = 0;
  const connections = {
    mostMs: 1,
    cut: () => {
      cuts += 1;
      cut.resolve();
    },
  };
  const ignoring = { export: (_items: never, _done: (result: { code: number }) => void) => {} };
  watch.over(ignoring, connections).export(undefined as never, () => {});
  await cut.promise;
  watch.end();
  expect(cuts).toBe(2);
});

test('at the end one failure is enough: nothing more is tried', () => {
  const { watch, send, count } = bench();
  watch.close();
  expect(send(undefined, refused, undefined, undefined)).toEqual([0, 1, 1, 1]);
  expect(count()).toBe(2);
});

test.each<[Error | undefined, string]>([
  [Object.assign(new Error('Unauthorized: secret'), { code: 401 }), 'HTTP 401'],
  [new Error('secret'), 'Error'],
  [Object.assign(new Error('secret'), { cause: { code: 'ETIMEDOUT' } }), 'ETIMEDOUT'],
])('the reason of %s is %s, and no text that may be secret', (error, reason) => {
  const { lines, send } = bench();
  send(error);
  expect(lines[0]).toContain(`"reason":"${reason}"`);
  expect(lines[0]).not.toContain('secret');
});
