// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references of the configuration file look like placeholders.
import { expect, test } from 'vitest';
import { loadConfig } from './load-config.ts';
import { configFolder, configOf, refusalOf } from './testing/config-folder.ts';

const IN = 'in waybill.config.yaml';

test.each([
  ['server: { prot: 8080 }', `Unknown key 'server.prot' ${IN}. Did you mean 'server.port'?`],
  ['sever: { port: 8080 }', `Unknown key 'sever' ${IN}. Did you mean 'server'?`],
  ['port: 8080', `Unknown key 'port' ${IN}. Did you mean 'server.port'?`],
  ['log: { colour: red }', `Unknown key 'log.colour' ${IN}. Known here: level, format.`],
  ['sqs: { queues: { mail: { dead: https://h/1/x, dea: 1 } } }', "Did you mean 'sqs.queues.mail.dead'?"],
  ['postgres://u:s3cret@h/db: 1', `Unknown key 'postgres://h/db' ${IN}.`],
  [
    'server: 8080',
    `'server' ${IN} must be a section with keys such as 'host', 'port', 'grpcPort', not a value of type number.`,
  ],
  ['server: { port: 65536 }', `'server.port' ${IN} must be a whole number from 0 to 65535, not '65536'.`],
  ['server: { port: 80.5 }', "not '80.5'."],
  ['server: { port: }', `'server.port' ${IN} must be a whole number from 0 to 65535, and has no value.`],
  ['server: { host: [a] }', `'server.host' ${IN} must be text, not a list.`],
  ['server: { requireLease: yes please }', `'server.requireLease' ${IN} must be true or false, not 'yes please'.`],
  ['server: { cors: ["https://a", 3] }', `'server.cors' ${IN} must be a list of texts, not a list.`],
  ['worker: { order: stric }', "must be fair or strict, not 'stric'. Did you mean 'strict'?"],
  ['worker: { grace: 25 }', `'worker.grace' ${IN} must be a span like 30s, 5m or 2h, not '25'.`],
  ['worker: { concurrency: 0 }', 'must be a whole number from 1 to 1000'],
  ['worker: { queues: { Mail: 1 } }', `'worker.queues.Mail' ${IN} is not the name of a queue.`],
  ['retention: { finished: 0 }', `'retention.finished' ${IN} must be a number of days above 0`],
  ['retention: { finished: -1 }', `'retention.finished' ${IN} must be a number of days above 0`],
  ['journal: { maxBytes: 64MB }', "not '64MB'."],
  ['telemetry: { ratio: 1.5 }', `'telemetry.ratio' ${IN} must be a number from 0 to 1, not '1.5'.`],
  ['dynamodb: { table: a b }', 'must be 3 to 255 letters, digits and . _ -'],
  ['dynamodb: { region: eu-west-1 }', `'dynamodb.table' is missing ${IN}, because 'dynamodb.region' needs it.`],
  ['sqs: { queues: { mail: mail } }', 'must be the URL of a queue'],
  ['sqs: { queues: { mail: } }', 'and has no value.'],
  ['sqs: { visibilitySeconds: 0 }', 'must be a whole number from 1 to 43200'],
  ['sqs: { visibilitySeconds: 43201 }', 'must be a whole number from 1 to 43200'],
  [
    '{ transport: "sqs://r/p", sqs: { visibilitySeconds: 30 } }',
    `'transport' and 'sqs.visibilitySeconds' ${IN} say the same.`,
  ],
  ['{ transport: "sqs://r/p", sqs: { region: us-east-1 } }', `'transport' and 'sqs.region' ${IN} say the same.`],
  ['{ store: "sqlite:x", dynamodb: { table: jobs } }', `'store' and 'dynamodb.table' ${IN} say the same.`],
  ['server: { tls: { cert: a.pem } }', `'server.tls.key' is missing ${IN}, because 'server.tls.cert' and`],
  ['server: { jwt: { issuer: i, audience: a } }', `'server.jwt.jwks' is missing ${IN}`],
  ['server: { auth: true, noAuth: true }', `'server.auth' and 'server.noAuth' ${IN} exclude each other.`],
  ['server: { proxies: [10.0.0.0/8] }', `'server.proxies' ${IN} needs 'server.trustProxy: true'.`],
  ['worker: { lease: 10s }', `'worker.heartbeat' ${IN} must be less than 'worker.lease', and is 20000 ms of 10000 ms.`],
  ['sqs: { timeouts: { call: 1s } }', `'sqs.timeouts.request' ${IN} must not be longer than 'sqs.timeouts.call'`],
])('%s', async (yaml, told) => {
  const message = await refusalOf(yaml);
  expect(message).toContain(told);
  expect(message).not.toContain('s3cret');
});

test('all problems of a file are told at once, each on a line', async () => {
  const yaml = 'server: { prot: 1, port: many }\nstore: "${NOPE}"\nlog: { level: loud }';
  expect((await refusalOf(yaml)).split('\n')).toEqual([
    'waybill.config.yaml has 4 problems:',
    `  'store' ${IN} needs the variable NOPE, which is not set. Set it, or give a default like \${NOPE:-..}.`,
    `  Unknown key 'server.prot' ${IN}. Did you mean 'server.port'?`,
    `  'server.port' ${IN} must be a whole number from 0 to 65535, not 'many'.`,
    `  'log.level' ${IN} must be debug, info, warn or error, not 'loud'.`,
  ]);
});

test('a value that came from a variable is not shown, but the variable is', async () => {
  const message = await refusalOf('server: { port: "${PORT}" }', { PORT: 's3cret' });
  expect(message).toBe(`'server.port' ${IN} must be a whole number from 0 to 65535. Check \${PORT}.`);
});

test.each(['', '# nothing yet', 'server:\nworker:\n', 'server: {}'])('%j is a file without settings', async (yaml) => {
  expect((await configOf(yaml)).found).toEqual([]);
});

test('what belongs together may come from the environment or from flags', async () => {
  const yaml = 'server: { tls: { cert: a.pem } }';
  expect((await configOf(yaml, { WAYBILL_TLS_KEY: 'a.key' })).env).toEqual({ WAYBILL_TLS_CERT: 'a.pem' });
  const folder = configFolder({ 'waybill.config.yaml': yaml });
  expect((await loadConfig({ env: {}, flags: { 'tls-key': 'a.key' }, folder }))?.env).toEqual({
    WAYBILL_TLS_CERT: 'a.pem',
  });
});
