// Tasks whose runs have a process of their own; what the tests of the runner enqueue.
import { writeSync } from 'node:fs';
import { RunFailure, type StandardSchemaV1, type TaskContext, task } from '../../index.ts';

const isolate = { module: import.meta.url };

/** Makes a Date of a text, which no channel carries. */
const dates: StandardSchemaV1<string, Date> = {
  '~standard': { version: 1, vendor: 'test', validate: (value) => ({ value: new Date(String(value)) }) },
};

export const dated = task('isolate.dated', { isolate, input: dates, run: (date) => date.getUTCFullYear() });

/** What a schema makes of an input anew each time. */
const stamped: StandardSchemaV1<string, { text: string; madeBy: number }> = {
  '~standard': {
    version: 1,
    vendor: 'test',
    validate: (text) => ({ value: { text: `${text}!`, madeBy: process.pid } }),
  },
};

export const made = task('isolate.made', {
  isolate,
  input: stamped,
  run: (input) => ({ ...input, ranBy: process.pid }),
});

const numbered: StandardSchemaV1<number> = {
  '~standard': {
    version: 1,
    vendor: 'test',
    validate: (value) => (typeof value === 'number' ? { value } : { issues: [{ message: 'must be a number' }] }),
  },
};

export const follower = task('isolate.follower', {
  input: numbered,
  queue: 'followers',
  priority: 7,
  unique: (count) => ({ keys: ['type'], period: `PT${count}S` }),
  run: (count) => count,
});

export const enqueuing = task('isolate.enqueuing', {
  isolate,
  retry: { max_attempts: 1 },
  run: async (_: unknown, { enqueue }) => {
    const { id, created } = await enqueue(follower, 60, { delay: new Date('2040-01-01'), tags: ['one'] });
    const codeOf = (error: Error & { code: string }) => error.code;
    const invalid = await enqueue(follower, 'x' as never).catch(codeOf);
    const foreign = await enqueue(follower, 1, { tenant: 'other' } as never).catch(codeOf);
    return { id, created, refused: [invalid, foreign] };
  },
});

const LARGE = 5_000_001;

export const largeFiles = task('isolate.large-files', {
  isolate,
  retry: { max_attempts: 1 },
  run: async (size: number | null, { files: own }) => {
    if (size !== null)
      return own.put('state/huge', new Uint8Array(size)).catch((error: Error & { code: string }) => error.code);
    const [one, two] = [new Uint8Array(LARGE).fill(1), new Uint8Array(LARGE).fill(2)];
    // Not one after the other.
    await Promise.all([own.put('state/one', one), own.put('state/two', two), own.put('state/none', new Uint8Array())]);
    const [first, second, none] = await Promise.all([
      own.get('state/one'),
      own.get('state/two'),
      own.get('state/none'),
    ]);
    return [Buffer.compare(first!, one), Buffer.compare(second!, two), none!.length];
  },
});

export const place = task('isolate.place', {
  isolate: { ...isolate, env: { GREETING: 'hello' }, inheritEnv: ['WAYBILL_TEST_INHERITED'] },
  run: (_: unknown, { attempt }) => ({ pid: process.pid, attempt, cwd: process.cwd(), env: { ...process.env } }),
});

export const chatty = task('isolate.chatty', {
  isolate,
  run: async (_: unknown, { emit }) => {
    process.stdout.write('first line\nsecond ');
    process.stderr.write('a warning\n');
    await emit('step.done', { step: 1 }, { critical: true });
    return 'said';
  },
});

export const spending = task('isolate.spending', {
  isolate,
  retry: { max_attempts: 1 },
  run: async (_: unknown, { spend }) => {
    const { exceeded } = await spend({ pages: 3 }, { key: 'ada' });
    const refused = await spend({ pages: -1 }).catch((error: Error & { code: string }) => [error.name, error.code]);
    return { exceeded: exceeded.map(({ id }) => id), refused };
  },
});

export const files = task('isolate.files', {
  isolate,
  retry: { max_attempts: 2, initial_interval: 'PT0.001S' },
  run: async (_: unknown, { files: own, attempt }) => {
    if (attempt === 1) {
      await own.put('state/part.bin', new Uint8Array([0, 200, 255]));
      throw new Error('The first run fails.');
    }
    const kept = await own.get('state/part.bin');
    return { kept: [...kept!], missing: await own.get('state/none') };
  },
});

export const endings = task('isolate.endings', { isolate, retry: { max_attempts: 1 }, run: endIn });

/** Ways to end that are no return. */
async function endIn(way: string, context: TaskContext): Promise<unknown> {
  switch (way) {
    case 'exit-0':
      return process.exit(0);
    case 'exit-3':
      process.stderr.write('no luck today\n');
      return process.exit(3);
    case 'signal':
      process.kill(process.pid, 'SIGTERM');
      return new Promise(() => {});
    case 'uncaught':
      setImmediate(() => {
        throw Object.assign(new RangeError('out of range'), { code: 'E_RANGE' });
      });
      return new Promise(() => {});
    case 'uncaught-secret':
      setImmediate(() => {
        throw new Error('connect ECONNREFUSED postgres://ada:planted-word@db/jobs');
      });
      return new Promise(() => {});
    case 'garbage':
      writeSync(3, 'this is no message\n');
      return 'never heard';
    case 'garbage-entry':
      writeSync(3, `${JSON.stringify({ kind: 'progress', fraction: { not: 'a number' }, detail: [] })}\n`);
      return 'still fine';
    case 'known-failure':
      throw new RunFailure({ code: 'known', message: 'It is final.', retryable: false, details: { turns: 3 } });
    case 'complete':
      return context.complete(1, { within: {} as never });
    default:
      throw new Error(`There is no way '${way}'.`);
  }
}

export const endless = task('isolate.endless', {
  isolate: { ...isolate, timeout: 300 },
  retry: { max_attempts: 1 },
  run: (_: unknown, { progress }) => {
    progress(0.5, 'begun');
    return new Promise(() => setInterval(() => {}, 1_000));
  },
});

export const asking = task('isolate.asking', {
  isolate,
  run: async (_: unknown, { ask, job }) => {
    const answer = await ask({ text: 'Deploy?', choices: ['yes', 'no'] });
    return { answer, run: job.run };
  },
});
