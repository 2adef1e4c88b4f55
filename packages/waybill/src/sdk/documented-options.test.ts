import { readFileSync } from 'node:fs';
import {
  LIMIT_NAMES,
  type LimitOptions,
  OPTION_NAMES,
  RATE_NAMES,
  RETRY_NAMES,
  type RetryOptions,
  UNIQUE_NAMES,
  type UniqueOptions,
} from '@waybill/core';
import { task } from '@waybill/worker';
import { describe, expect, it } from 'vitest';
import { embedded, overHttp } from './testing/open-connection.ts';

/** For each field an object that has it, so that the compiler asks for a sample of a new one. */
type Samples<T> = { readonly [Name in keyof T]-?: T & Required<Pick<T, Name>> };

const RETRY: Samples<RetryOptions> = {
  max_attempts: { max_attempts: 5 },
  initial_interval: { initial_interval: 'PT2S' },
  initial_interval_ms: { initial_interval_ms: 2_000 },
  initial_delay_ms: { initial_delay_ms: 2_000 },
  max_interval: { max_interval: 'PT1H' },
  max_interval_ms: { max_interval_ms: 3_600_000 },
  backoff_coefficient: { backoff_coefficient: 1.5 },
  backoff_strategy: { backoff_strategy: 'linear' },
  strategy: { strategy: 'linear' },
  jitter: { jitter: false },
  non_retryable_errors: { non_retryable_errors: ['auth.*'] },
  on_exhaustion: { on_exhaustion: 'discard' },
};

const UNIQUE: Samples<UniqueOptions> = {
  keys: { keys: ['args'] },
  key: { key: ['user'] },
  args_keys: { keys: ['args'], args_keys: ['user'] },
  meta_keys: { keys: ['meta'], meta_keys: ['region'] },
  states: { states: ['available', 'completed'] },
  period: { period: 'PT1H' },
  period_ms: { period_ms: 3_600_000 },
  on_conflict: { on_conflict: 'ignore' },
};

const LIMIT: Samples<LimitOptions> = {
  key: { key: 'stripe' },
  on_limit: { concurrency: 1, on_limit: 'wait' },
  concurrency: { concurrency: 1 },
  rate: { rate: { limit: 5, period_ms: 60_000 } },
  period: { rate: 5, period: 'minute' },
  throttle: { throttle: { limit: 5, period: 'PT1M' } },
  max_per_second: { max_per_second: 5 },
  max_per_minute: { max_per_minute: 5 },
  max_per_hour: { max_per_hour: 5 },
  max_per_day: { max_per_day: 5 },
};

const input = { user: 42 };
const meta = { region: 'eu' };
const run = () => 1;

describe.each([
  ['embedded', embedded],
  ['over HTTP', overHttp],
])('D5: every field compiles in a task and is taken, %s:', (_, open) => {
  it.each(Object.entries(RETRY))('retry.%s', async (name, retry) => {
    const waybill = await open();
    const handle = await waybill.enqueue(task('a.a', { retry, run: (_: typeof input) => 1 }), input, { retry });
    const { job } = await waybill.jobs.enqueue({ type: 'a.a', args: [], options: { retry } });
    for (const id of [handle.id, job.id]) expect((await waybill.jobs.get(id)).spec.retry).toHaveProperty(name);
  });

  it.each(Object.entries(UNIQUE))('unique.%s', async (name, unique) => {
    const waybill = await open();
    const sync = task('a.a', { unique, run: (_: typeof input) => 1 });
    const { id } = await waybill.enqueue(sync, input, { meta });
    const stored = await waybill.jobs.get(id);
    expect(stored.spec.options?.['unique']).toHaveProperty(name);
    const again = waybill.jobs.enqueue({ type: 'a.a', args: [input], meta, options: { unique } });
    if (name === 'on_conflict') expect(await again).toMatchObject({ created: false, job: { id } });
    else await expect(again).rejects.toMatchObject({ code: 'duplicate' });
  });

  it.each(Object.entries(LIMIT))('limit.%s', async (name, limit) => {
    const waybill = await open();
    const { id } = await waybill.enqueue(task('a.a', { limit, run }), undefined);
    const { job } = await waybill.jobs.enqueue({ type: 'a.a', args: [], options: { rate_limit: limit } });
    for (const one of [id, job.id]) {
      expect((await waybill.jobs.get(one)).spec.options?.['rate_limit']).toHaveProperty(name);
    }
  });
});

const page = (name: string): string => readFileSync(new URL(`../../../../docs/${name}`, import.meta.url), 'utf8');
const quoted = (text: string): string[] => [...text.matchAll(/`([a-z_]+)/g)].map(([, name]) => name!);

/** What the first column of a table names. */
function firstColumn(text: string, heading: string): string[] {
  const rows = text.slice(text.indexOf(heading)).split('\n\n', 1)[0]!.split('\n').slice(2);
  return rows.flatMap((row) => quoted(row.split('|')[1]!));
}

describe('D5: the pages name what the tables name', () => {
  it('limits.md', () => {
    const limits = page('limits.md');
    expect(firstColumn(limits, '| field of `options.rate_limit`').sort()).toEqual([...LIMIT_NAMES].sort());
    for (const name of RATE_NAMES) expect(limits).toMatch(new RegExp(`[\`{ ]${name}[\`},]`));
  });

  it('uniqueness.md', () => {
    expect(firstColumn(page('uniqueness.md'), '| field | meaning').sort()).toEqual([...UNIQUE_NAMES].sort());
  });

  it('http-api.md', () => {
    const api = page('http-api.md');
    const options = firstColumn(api, '| option | meaning | default |');
    expect(options.sort()).toEqual([...OPTION_NAMES].sort());
    const row = /\| `retry` \| ([^|]+)\|/.exec(api)![1]!;
    const others = /The intervals of `retry`[\s\S]*?\n\n/.exec(api)![0];
    const named = [...quoted(row), ...quoted(others).filter((name) => !['retry', 'specversion'].includes(name))];
    expect([...new Set(named)].sort()).toEqual([...RETRY_NAMES].sort());
  });
});
