import { execFile, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { DeleteTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { type Cloud, startCloud } from '@waybill/aws/cloud';
import { silentLogger } from '@waybill/core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { open } from '../../sdk/open.ts';
import { startHost } from '../host.ts';
import { Terminal } from '../testing/terminal.ts';

/** Skipped only where Java is missing, and that nobody accepts in CI. */
const canRun = spawnSync('java', ['-version']).status === 0 || process.env['CI'] === 'true';

const BIN = fileURLToPath(new URL('../../../bin/waybill.js', import.meta.url));

/** What differs from run to run. */
const anywhen = (text: string): string =>
  text
    .replaceAll(/Node\.js [\d.]+/g, 'Node.js N')
    .replaceAll(/\d+ ms/g, 'N ms')
    .replaceAll(/about \d+ items/g, 'about N items')
    .replaceAll(/endpoint=\S+/g, 'endpoint=HERE')
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g, 'MESSAGE');

describe.skipIf(!canRun)('the command on the local cloud (skipped: needs Java 17)', () => {
  let cloud: Cloud;
  const before = { ...process.env };
  beforeAll(async () => {
    cloud = await startCloud();
    // The SDK reads its credentials from there.
    Object.assign(process.env, cloud.env);
  }, 90_000);
  afterAll(async () => {
    for (const name of Object.keys(cloud.env)) delete process.env[name];
    Object.assign(process.env, before);
    await cloud.stop();
  });

  /** By the clock of the emulators, which sign and hide by it. */
  function terminalOn(table: string): Terminal {
    const endpoint = cloud.endpoints.dynamodb;
    const terminal = new Terminal(`dynamodb://us-east-1/${table}?endpoint=${endpoint}`);
    terminal.now = Date.now();
    terminal.env = { WAYBILL_TRANSPORT: `sqs://us-east-1/${table}?endpoint=${cloud.endpoints.sqs}` };
    return terminal;
  }

  it('doctor: from no table to queues that work', async () => {
    const terminal = terminalOn('first');
    expect(anywhen(await terminal.text('doctor'))).toMatchInlineSnapshot(`
      "
      exit 1
      ok    node       Node.js N
      fail  table      there is no table 'first'
                       \`waybill migrate\` makes it. Is it another region or account?
      ok    clock      as AWS has it
      ok    sqs        SQS answers in N ms
      ok    sqs clock  as AWS has it
      ok    messages   whether they may be sent and received shows with the first queue
      "
    `);
    expect(anywhen(await terminal.text('jobs', 'list'))).toMatchInlineSnapshot(`
      "
      exit 14
      waybill: The table 'first' does not exist.
        \`waybill migrate\` makes it.
      "
    `);
    expect(anywhen(await terminal.text('migrate'))).toMatchInlineSnapshot(`
      "
      dynamodb://us-east-1/first?endpoint=HERE has schema 1, newly made
      "
    `);
    expect(anywhen(await terminal.text('migrate'))).toMatchInlineSnapshot(`
      "
      dynamodb://us-east-1/first?endpoint=HERE has schema 1, nothing to do
      "
    `);
    await terminal.run('enqueue', 'mail.send', '--queue', 'mails');
    expect(anywhen(await terminal.text('doctor'))).toMatchInlineSnapshot(`
      "
      ok    node         Node.js N
      ok    table        first is active, paid per request, about N items, 1 MiB
      ok    indexes      list, due, ready are active
      ok    expiry       DynamoDB removes what is old
      ok    stream       on, NEW_IMAGE
      ok    permissions  all that the store does is allowed
      ok    clock        as AWS has it
      ok    sqs          SQS answers in N ms
      ok    sqs clock    as AWS has it
      ok    queue mails  default 1 waiting, 0 held
      ok    messages     may be sent, received, hidden and deleted, as far as can be told
      "
    `);
    expect((await terminal.run('doctor', '--transport', 'sqs://us-east-1/x?endpoint=http://127.0.0.1:1')).code).toBe(1);
  }, 120_000);

  it('ready: 503 with the reason when the table is gone', async () => {
    const { store, env } = terminalOn('third');
    const address = {
      host: '127.0.0.1',
      port: 0,
      portGiven: true,
      noAuth: false,
      allowedHosts: [],
      requireLease: false,
      blobs: undefined,
    };
    const host = await startHost({ ...address, store, transport: env['WAYBILL_TRANSPORT']! }, silentLogger);
    onTestFinished(() => host.drain());
    const ready = async () => {
      const response = await fetch(`${host.url}/ready`);
      return { status: response.status, body: (await response.json()) as unknown };
    };
    expect(await ready()).toEqual({ status: 200, body: { status: 'ready' } });
    expect(await (await fetch(`${host.url}/health`)).json()).toMatchObject({
      ...{ status: 'ok', backend: { type: 'dynamodb' }, transport: { type: 'sqs', status: 'ok' } },
    });
    const client = new DynamoDBClient({ endpoint: cloud.endpoints.dynamodb });
    await client.send(new DeleteTableCommand({ TableName: 'third' }));
    client.destroy();
    // The last answer is good for a few seconds.
    await expect.poll(ready, { timeout: 20_000, interval: 500 }).toEqual({
      ...{ status: 503, body: { status: 'unavailable', reason: "The table 'third' does not exist." } },
    });
  }, 120_000);

  it('dead: rows and messages are listed, and replayed together', async () => {
    const terminal = terminalOn('second');
    const retry = '{"max_attempts":1,"on_exhaustion":"dead_letter"}';
    await terminal.run('enqueue', 'mail.send', '--queue', 'mails', '--retry', retry);
    await terminal.settle({ kind: 'failed', error: { code: 'smtp', message: 'no answer' } }, { queue: 'mails' });
    cloud.sqs.sendMessage('second-mails-redrive', '{"documents":[]}');
    terminal.now = Date.now();
    const listed = (await terminal.json('dead', 'list')) as { messages: object[] };
    expect(listed).toMatchObject({
      jobs: [{ type: 'mail.send', dead_letter: true }],
      messages: [{ queue: 'mails', place: 'redrive', kind: 'foreign', job_id: null, body: '{"documents":[]}' }],
    });
    expect(await terminal.text('dead', 'list')).toMatch(/\nMESSAGE .*\n.*redrive {2}foreign/);
    expect(await terminal.json('dead', 'list', '--error', 'smtp')).not.toHaveProperty('messages');
    expect(await terminal.json('dead', 'replay', '--all', '--dry-run')).toEqual({ matched: 1, messages: 1 });
    expect(await terminal.text('dead', 'replay', '--all', '--yes')).toBe('\n1 dead letter and 1 message replayed\n');
    expect(await terminal.json('dead', 'replay', '--all', '--yes')).toEqual({
      retried: 0,
      has_more: false,
      messages: 0,
    });
    const bodies = cloud.sqs.inspectQueue('second-mails-default')!.messages.ready.map(({ body }) => body);
    expect(bodies).toContain('{"documents":[]}');
  }, 120_000);

  it('dead: the notice of a death goes when the job lives again, whatever chose it', async () => {
    const terminal = terminalOn('fourth');
    const retry = { max_attempts: 1, on_exhaustion: 'dead_letter' } as const;
    const notices = () => cloud.sqs.inspectQueue('fourth-mails-dead')?.messages.ready.length ?? 0;
    const die = async (): Promise<string> => {
      const transport = terminal.env['WAYBILL_TRANSPORT']!;
      const waybill = await open(terminal.store, { transport, engine: { maintenance: false } });
      const { job } = await waybill.jobs.enqueue({ type: 'mail.send', args: [], options: { queue: 'mails', retry } });
      const [lease] = await waybill.jobs.claim({ queues: ['mails'], waitMs: 10_000 });
      const outcome = { kind: 'failed', error: { code: 'smtp', message: 'no answer' } } as const;
      await waybill.jobs.settle({ id: lease!.job.id, leaseToken: lease!.token, outcome });
      await waybill.close();
      return job.id;
    };
    const id = await die();
    expect(notices()).toBe(1);
    expect((await terminal.run('dead', 'replay', id)).code).toBe(0);
    expect(notices()).toBe(0);
    await terminal.run('jobs', 'cancel', id);
    await die();
    expect(notices()).toBe(1);
    const options = ['--all', '--error', 'smtp', '--yes'];
    expect(await terminal.json('dead', 'replay', ...options)).toEqual({ retried: 1, has_more: false });
    expect(notices()).toBe(0);
  }, 120_000);

  // fault: the clock of the machine is 45 s or a day off
  it.each([45_000, -86_400_000])(
    'B6: the command goes by the time of DynamoDB with a clock %i ms off',
    async (offMs) => {
      const terminal = terminalOn('skewed');
      await terminal.run('migrate');
      const skew = `data:text/javascript,const now = Date.now; Date.now = () => now() + ${offMs};`;
      const args = ['--import', skew, BIN, 'enqueue', 'mail.send', '--json', '--store', terminal.store];
      const { stdout } = await promisify(execFile)(process.execPath, args);
      const { job } = JSON.parse(stdout) as { job: { created_at: string } };
      expect(Math.abs(Date.parse(job.created_at) - Date.now())).toBeLessThan(30_000);
    },
    60_000,
  );
});
