// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references of the configuration file look like placeholders.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { loadConfig } from './load-config.ts';
import { configFolder, configOf, refusalOf } from './testing/config-folder.ts';

test.each([
  ['yaml', 'server: { port: 81 }'],
  ['yml', 'server:\n  port: 81 # a comment\n'],
  ['json', '{"server":{"port":81}}'],
  ['mjs', 'export default { server: { port: 81 } };'],
  ['js', 'export default async () => ({ server: { port: 81 } });'],
  ['ts', 'const port: number = 81;\nexport default (): { server: { port: number } } => ({ server: { port } });'],
])('waybill.config.%s is found in the folder and read', async (ending, text) => {
  // Such files are modules where the package of the folder says so.
  const folder = configFolder({ 'package.json': '{"type":"module"}', [`waybill.config.${ending}`]: text });
  const config = await loadConfig({ env: {}, folder });
  expect([config?.file, config?.env]).toEqual([`waybill.config.${ending}`, { WAYBILL_PORT: '81' }]);
});

test('a folder without a file has no configuration', async () => {
  expect(await loadConfig({ env: {}, folder: configFolder({ 'other.yaml': 'a: 1' }) })).toBeUndefined();
});

test('two files at once are refused, and both are named', async () => {
  const folder = configFolder({ 'waybill.config.yaml': '', 'waybill.config.json': '{}' });
  await expect(loadConfig({ env: {}, folder })).rejects.toThrow(
    'There are several configuration files: waybill.config.yaml and waybill.config.json.',
  );
  expect((await loadConfig({ env: { WAYBILL_CONFIG: 'waybill.config.json' }, folder }))?.file).toBe(
    'waybill.config.json',
  );
});

test('a flag beats WAYBILL_CONFIG, and a file that is named must exist', async () => {
  const folder = configFolder({ 'a.yaml': 'server: { port: 1 }', 'b.yaml': 'server: { port: 2 }' });
  const env = { WAYBILL_CONFIG: 'a.yaml' };
  expect((await loadConfig({ env, folder }))?.env['WAYBILL_PORT']).toBe('1');
  expect((await loadConfig({ named: path.join(folder, 'b.yaml'), env, folder }))?.env['WAYBILL_PORT']).toBe('2');
  await expect(loadConfig({ named: 'c.yaml', env, folder })).rejects.toThrow('There is no configuration file c.yaml.');
});

test.each([
  ['a.yaml', 'server: {\n  port: s3cret', 'a.yaml is not valid YAML at line 2'],
  ['a.yaml', 'server: 1\nserver: s3cret', 'a.yaml is not valid YAML at line 2, column 1: duplicate key.'],
  ['a.yaml', 'server: {}\n---\nserver: s3cret', 'a.yaml is not valid YAML at line 2, column 1: multiple docs.'],
  ['a.yaml', 'store: *s3cret', 'a.yaml is not valid YAML'],
  ['a.json', '{"server": s3cret}', 'a.json is not valid JSON'],
  ['a.yaml', '[s3cret]', 'a.yaml must hold an object with keys such as store and server, not a list.'],
  ['a.mjs', 'export const store = "s3cret";', 'a.mjs has no default export.'],
  ['b.mjs', 'export default (env) => ({});', 'The default export of b.mjs is a function with parameters.'],
  ['c.mjs', 'throw new Error("no database");', 'c.mjs cannot be loaded: Error: no database'],
  ['a.toml', 's3cret = 1', 'The configuration file a.toml has an unknown ending.'],
])('%s with %j is refused without a word of what is in it', async (name, text, told) => {
  const folder = configFolder({ [name]: text });
  const error = await loadConfig({ named: name, env: {}, folder }).catch((reason: Error) => reason);
  expect((error as Error).message).toContain(told);
  expect((error as Error).message).not.toContain('s3cret');
});

test('references are replaced inside of texts, and $${ is a literal', async () => {
  const yaml = `
store: postgres://\${USER_NAME}:\${PASSWORD}@\${DB_HOST:-localhost}/jobs
server: { port: "\${PORT}", auth: "\${AUTH}", cors: ["https://\${DB_HOST:-shop.example}"] }
worker: { tenant: "$\${literal}" }
`;
  const config = await configOf(yaml, { USER_NAME: 'ada', PASSWORD: 'pw', PORT: '81', AUTH: 'true', DB_HOST: '' });
  expect(config.env).toEqual({
    WAYBILL_STORE: 'postgres://ada:pw@localhost/jobs',
    WAYBILL_PORT: '81',
    WAYBILL_AUTH: 'true',
    WAYBILL_CORS_ORIGINS: 'https://shop.example',
    WAYBILL_TENANT: '${literal}',
  });
});

test('a missing variable and an invalid reference are named with their keys', async () => {
  expect(await refusalOf('store: postgres://u:${PASSWORD}@h/db')).toBe(
    "'store' in waybill.config.yaml needs the variable PASSWORD, which is not set. Set it, or give a default like ${PASSWORD:-..}.",
  );
  expect(await refusalOf("server: { host: '${not a name}' }")).toContain(
    "'server.host' in waybill.config.yaml has an invalid reference.",
  );
  expect(await refusalOf("server: { host: '${OPEN' }", { OPEN: 'x' })).toContain('has an invalid reference');
});

test('keys become fallbacks of variables, of flags, or options', async () => {
  const config = await configOf(`
store: sqlite:./jobs.db
blobs: file:./blobs
server: { host: 0.0.0.0, requireLease: true, noAuth: false, proxies: [10.0.0.0/8, 10.1.0.0/16], trustProxy: true }
worker:
  module: ./tasks.js
  concurrency: 20
  queues: { mail: { weight: 3, concurrency: 5 }, bulk: , slow: 2 }
  bounds: { slow: 1 }
  grace: 1.5m
  lease: 60s
retention: { finished: 14, journal: 0, events: 12h }
journal: { maxBytes: 1000 }
engine: { lease: PT10M }
log: { level: warn, format: json }
telemetry: { interval: 10s }
`);
  expect(config.env).toEqual({
    ...{ WAYBILL_STORE: 'sqlite:./jobs.db', WAYBILL_BLOBS: 'file:./blobs', WAYBILL_HOST: '0.0.0.0' },
    ...{ WAYBILL_PROXY_ADDRESSES: '10.0.0.0/8,10.1.0.0/16', WAYBILL_TRUST_PROXY: 'true', WAYBILL_LOG: 'warn' },
    OTEL_METRIC_EXPORT_INTERVAL: '10000',
  });
  expect(config.flags).toEqual({
    ...{ 'require-lease': true, concurrency: '20', queues: 'mail=3,bulk,slow=2', bounds: 'mail=5,slow=1' },
    ...{ grace: '90000ms', 'log-format': 'json' },
  });
  expect(config.options).toEqual({
    module: './tasks.js',
    worker: { leaseMs: 60_000 },
    engine: {
      leaseMs: 600_000,
      retention: { finishedMs: 14 * 86_400_000, journalMs: 50 * 365 * 86_400_000, eventsMs: 43_200_000 },
      journal: { maxBytes: 1_000 },
    },
  });
});

test('every option of SQS and DynamoDB that is data can be set', async () => {
  const config = await configOf(`
sqs:
  region: eu-west-1
  prefix: shop
  endpoint: http://127.0.0.1:4566
  visibilitySeconds: 30
  env: prod
  createQueues: false
  adopt: [orders]
  queues:
    mail: https://sqs.eu-west-1.amazonaws.com/1/mail
    bulk.slow: { default: https://h/1/a, high: https://h/1/b, low: https://h/1/c, redrive: https://h/1/d, dead: https://h/1/e }
  timeouts: { connect: 1s, request: 2s, call: 6s }
dynamodb:
  table: jobs
  region: eu-west-1
  endpoint: http://127.0.0.1:8000
  ready: none
  createTable: false
  shards: { due: 2, queue: 3, queues: { mail: 4 } }
  largestTransaction: 50
  timeouts: { call: 20s }
`);
  expect(config.env).toEqual({
    WAYBILL_TRANSPORT: 'sqs://eu-west-1/shop?endpoint=http%3A%2F%2F127.0.0.1%3A4566&visibility=30',
    WAYBILL_STORE: 'dynamodb://eu-west-1/jobs?endpoint=http%3A%2F%2F127.0.0.1%3A8000&ready=none',
  });
  const urls = { default: 'https://h/1/a', high: 'https://h/1/b', low: 'https://h/1/c' };
  expect(config.options).toEqual({
    sqs: {
      ...{ env: 'prod', createQueues: false, adopt: { orders: true } },
      queues: {
        mail: { default: 'https://sqs.eu-west-1.amazonaws.com/1/mail' },
        'bulk.slow': { ...urls, redrive: 'https://h/1/d', dead: 'https://h/1/e' },
      },
      timeouts: { connectMs: 1_000, requestMs: 2_000, callMs: 6_000 },
    },
    dynamodb: {
      ...{ createTable: false, shards: { due: 2, queue: 3, queues: { mail: 4 } }, largestTransaction: 50 },
      timeouts: { callMs: 20_000 },
    },
  });
});

test('a module that exports an object which contains itself is refused', async () => {
  const folder = configFolder({});
  writeFileSync(path.join(folder, 'd.mjs'), 'const a = { server: {} }; a.server.tls = a; export default a;');
  await expect(loadConfig({ named: 'd.mjs', env: {}, folder })).rejects.toThrow(
    "'server.tls' in d.mjs contains itself.",
  );
});
