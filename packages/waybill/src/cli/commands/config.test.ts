import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { configFolder } from '../../config/testing/config-folder.ts';
import { ServerProcess } from '../../testing/server-process.ts';
import { Terminal } from '../testing/terminal.ts';

/** A terminal whose configuration file has this text. */
function terminalWith(text: string, name = 'waybill.config.yaml'): Terminal {
  const terminal = new Terminal();
  terminal.env = { WAYBILL_STORE: '', WAYBILL_CONFIG: path.join(configFolder({ [name]: text }), name) };
  return terminal;
}

test('config check: one line, or all problems and exit code 2', async () => {
  expect(await terminalWith('server: { port: 81 }').text('config', 'check')).toMatchInlineSnapshot(`
    "
    waybill.config.yaml is valid, with 1 key
    "
  `);
  expect(await terminalWith('server: { prot: 81, host: 1 }').text('config', 'check')).toMatchInlineSnapshot(`
    "
    exit 2
    waybill: waybill.config.yaml has 2 problems:
      Unknown key 'server.prot' in waybill.config.yaml. Did you mean 'server.port'?
      'server.host' in waybill.config.yaml must be text, not '1'.
      docs/configuration.md lists the keys. \`waybill config check\` tries the file.
    "
  `);
  expect(await terminalWith('store: redis://h').text('config', 'check')).toContain("'store' in waybill.config.yaml: ");
  expect(await terminalWith('transport: sqs').text('config', 'check')).toContain('exit 2');
});

test('config check FILE beats WAYBILL_CONFIG', async () => {
  const other = path.join(configFolder({ 'other.json': '{}' }), 'other.json');
  expect(await terminalWith('nope: 1').text('config', 'check', other)).toBe('\nother.json is valid, with 0 keys\n');
  expect(await terminalWith('').text('config', 'check', 'gone.yaml')).toContain(
    'exit 2\nwaybill: There is no configuration file gone.yaml.',
  );
});

test('config show: flag beats environment, which beats the file, which beats the default', async () => {
  const terminal = terminalWith('server: { host: a, port: 1, maxConnections: 5, tokenSecret: hidden }');
  Object.assign(terminal.env, { WAYBILL_HOST: 'b', WAYBILL_PORT: '2' });
  const { settings, file } = (await terminal.json('config', 'show', '--host', 'c')) as {
    file: string;
    settings: { key: string; value: unknown; source: string }[];
  };
  const of = (key: string) => settings.find((one) => one.key === key);
  expect(file).toBe('waybill.config.yaml');
  expect(['host', 'port', 'maxConnections', 'sessionHours', 'tokenSecret'].map((key) => of(`server.${key}`))).toEqual([
    { key: 'server.host', value: 'c', source: 'flag' },
    { key: 'server.port', value: 2, source: 'environment' },
    { key: 'server.maxConnections', value: 5, source: 'file' },
    { key: 'server.sessionHours', value: '12', source: 'default' },
    { key: 'server.tokenSecret', value: '***', source: 'file' },
  ]);
  const text = await terminal.text('config', 'show', '--host', 'c');
  expect(text).toMatch(/^\nfile waybill\.config\.yaml\n\nKEY +VALUE +SOURCE\nstore +sqlite:\.\/waybill\.db +default\n/);
});

test('config show masks a secret that stands where the name of its file is expected', async () => {
  const file = path.join(configFolder({ 'Keys OF ops': '[]' }), 'Keys OF ops');
  const shown = async (keys: string, text = '{}') => {
    const terminal = terminalWith(text);
    const line = keys === '' ? [] : ['--keys', keys, '--token-secret', keys];
    const { settings } = (await terminal.json('config', 'show', ...line)) as {
      settings: { key: string; value: unknown }[];
    };
    const of = (key: string) => settings.find((one) => one.key === `server.${key}`)!.value;
    return [of('keysFile'), of('tokenSecretFile')];
  };
  for (const name of [file, '/run/secrets/waybill-keys', './keys', 'keys.json'])
    expect(await shown(name)).toEqual([name, name]);
  const secrets = [
    'PLANTEDm-012345678901234567890',
    '/PLANTEDm+0123456789/abc',
    '[{"secret":"PLANTEDm"}]',
    'a.b.c',
    'ab12cd34',
  ];
  for (const secret of secrets) expect(await shown(secret)).toEqual(['***', '***']);
  const inFile = 'server: { keysFile: PLANTEDm-0123456789, tokenSecretFile: PLANTEDm-0123456789 }';
  expect(await shown('', inFile)).toEqual(['***', '***']);
});

test('serve takes its port, its store and a switch from the file; flags and variables beat it', async () => {
  const folder = configFolder({});
  const text = `
store: sqlite:${path.join(folder, 'jobs.db')}
server: { port: 0, requireLease: true }
`;
  const file = path.join(configFolder({ 'waybill.config.yaml': text }), 'waybill.config.yaml');
  const server = await ServerProcess.start(['serve', '--config', file], { WAYBILL_STORE: '', WAYBILL_PORT: '' });
  onTestFinished(async () => void (await server.end('SIGKILL')));
  expect(server.output).toContain(path.join(folder, 'jobs.db'));
  await server.call('POST', '/ojs/v1/jobs', { type: 'a.b', args: [] });
  const fetched = await server.call<{ jobs: { id: string }[] }>('POST', '/ojs/v1/workers/fetch', {
    ...{ queues: ['default'], count: 1, worker_id: 'w' },
  });
  // Without its lease token, which the file asks for.
  const acked = await server.call('POST', '/ojs/v1/workers/ack', { job_id: fetched.body.jobs[0]!.id });
  expect([fetched.status, acked.status]).toEqual([200, 400]);
  expect(await server.end('SIGTERM')).toBe(0);
  const other = path.join(folder, 'other.db');
  const beaten = await ServerProcess.start(['serve', '--config', file, '--store', `sqlite:${other}`]);
  onTestFinished(async () => void (await beaten.end('SIGKILL')));
  expect(beaten.output).toContain(other);
});

test('work takes its module, queues and bounds from the file', async () => {
  const module = new URL('../../testing/traced-tasks.ts', import.meta.url).pathname;
  expect(readFileSync(module, 'utf8')).toContain('task(');
  const terminal = terminalWith(`
worker: { module: ${module}, concurrency: 3, queues: { mail: { concurrency: 2 } }, grace: 1s }
log: { format: json, level: error }
`);
  terminal.env['WAYBILL_STORE'] = terminal.store;
  terminal.onOutput = () => terminal.interruption.abort();
  const { code, out } = await terminal.run('work');
  expect([code, out]).toEqual([0, expect.stringContaining('waybill works on')]);
  const refused = terminalWith('worker: { queues: [mail] }');
  expect((await refused.run('work', module, '--bounds', 'bulk=1')).err).toContain(
    "--bounds names 'bulk', which this worker does not work on.",
  );
});

test('work keeps its outbox in the folder that the file names; the flag beats the file', async () => {
  // The outbox has the entry when a critical emit resolves, and loses it when the server has it.
  const text = `
import { readdirSync } from 'node:fs';
const run = async (folder, { emit }) => {
  await emit('step', 1, { critical: true });
  return readdirSync(folder, { recursive: true }).length;
};
export const look = { name: 'outbox.look', schema: undefined, policy: {}, run };
`;
  const folder = configFolder({ 'tasks.mjs': text });
  const [inFile, byFlag] = [path.join(folder, 'a'), path.join(folder, 'b')];
  const terminal = terminalWith(`worker: { module: ${path.join(folder, 'tasks.mjs')}, outbox: ${inFile} }`);
  terminal.env['WAYBILL_STORE'] = terminal.store;
  const shown = (await terminal.json('config', 'show')) as { settings: { key: string }[] };
  expect(shown.settings).toContainEqual({ key: 'worker.outbox', value: inFile, source: 'file' });
  const other = new Terminal(terminal.store);
  for (const [outbox, ...flags] of [[inFile], [byFlag, '--outbox', byFlag]] as const) {
    terminal.interruption = new AbortController();
    const working = terminal.run('work', '--quiet', ...flags);
    expect(Number(await other.text('enqueue', 'outbox.look', JSON.stringify(outbox), '--wait'))).toBeGreaterThan(0);
    terminal.interruption.abort();
    expect((await working).code).toBe(0);
    expect(existsSync(byFlag)).toBe(outbox === byFlag);
  }
  expect(await terminal.run('work', '--outbox', '')).toMatchObject({
    ...{ code: 2, err: expect.stringContaining('--outbox must not be empty.') },
  });
});
