// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references of the configuration file look like placeholders.
import { expect, expectTypeOf, test } from 'vitest';
import { checkConfig } from './check-config.ts';
import { defineConfig } from './define-config.ts';
import { configTypes } from './testing/config-types.ts';
import type { WaybillConfig } from './waybill-config.ts';

test('the types follow the table of keys', async () => {
  await expect(configTypes()).toMatchFileSnapshot('./waybill-config.ts');
});

/** Each form that a value may have. */
const config: WaybillConfig = {
  store: 'postgres://waybill:${DB_PASSWORD}@db.internal/jobs',
  server: { host: '0.0.0.0', port: '${PORT:-8080}', cors: ['https://shop.example'], jwt: { issuer: 'https://id' } },
  worker: {
    ...{ module: './tasks.js', concurrency: 20, order: 'strict', grace: '25s', lease: 'PT30S', outbox: './outbox' },
    ...{ queues: { mail: 3, bulk: { weight: 1, concurrency: 2 } }, bounds: { mail: 2 } },
  },
  retention: { finished: 14, journal: '30d', dead: '${DEAD_DAYS}' },
  sqs: {
    queues: { mail: 'https://h/1/a', bulk: { default: 'https://h/1/b' } },
    visibilitySeconds: 30,
    timeouts: { call: '6s' },
  },
  dynamodb: { table: 'jobs', shards: { due: 2, queues: { mail: 4 } }, createTable: false },
  log: { level: 'warn' },
  telemetry: { ratio: 0.5, sampler: 'traceidratio' },
};

test('defineConfig answers what it is given', () => {
  expect(defineConfig(config)).toBe(config);
});

test('what the compiler takes, the command takes, too', () => {
  const references = JSON.stringify(config).replaceAll(/\$\{[^}]*\}/g, '1');
  expect(checkConfig(JSON.parse(references), 'waybill.config.ts', new Map()).problems).toEqual([]);
});

test('the compiler refuses misspelt keys and values that no key takes', () => {
  const take = (given: WaybillConfig) => checkConfig(given, 'waybill.config.ts', new Map()).problems.length;
  const problems = [
    // @ts-expect-error 'prot' is no key of the section; 'port' is.
    take(defineConfig({ server: { prot: 8080 } })),
    // @ts-expect-error 'workers' is no section.
    take(defineConfig({ workers: { concurrency: 1 } })),
    // @ts-expect-error 'wieght' is no key of a queue.
    take(defineConfig({ worker: { queues: { mail: { wieght: 1 } } } })),
    // @ts-expect-error A number is no text.
    take(defineConfig({ server: { host: 1 } })),
    // @ts-expect-error A span has a unit.
    take(defineConfig({ worker: { lease: '30' } })),
    // @ts-expect-error 'fare' is no order.
    take(defineConfig({ worker: { order: 'fare' } })),
  ];
  expect(problems).toEqual([1, 1, 1, 1, 1, 1]);
  expectTypeOf(defineConfig).toEqualTypeOf<(given: WaybillConfig) => WaybillConfig>();
});

test('a section that two programs write is an address or the section', () => {
  const store = {
    type: 'sqs',
    sqs: { queues: { default: 'https://h/1/a' } },
    dynamodb: { jobs_table: 'jobs' },
  } as const;
  expect(defineConfig({ store })).toEqual({ store });
});
