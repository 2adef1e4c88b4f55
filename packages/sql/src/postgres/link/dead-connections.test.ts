import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { startProxy } from '../testing/proxy.ts';
import { postgresUrl } from '../testing/server.ts';

const CODE = `
  import { once } from 'node:events';
  import { silentLogger } from '${import.meta.resolve('@waybill/core')}';
  import { openLink } from '${new URL('./open-link.ts', import.meta.url)}';
  const quick = { queryTimeoutMs: 300, patienceMs: 0, poolSize: 5, migrate: false, listen: false, logger: silentLogger };
  const link = await openLink({ url: process.argv[1], ...quick });
  const all = () => Promise.all([1, 2, 3, 4, 5].map(() => link.query('select pg_sleep(0.05)::text')));
  await all();
  console.log('connected');
  await once(process.stdin, 'data');
  const failure = await link.query('select 1').catch((error) => error.message);
  await all();
  process.stdin.destroy();
  await link.close();
  console.log(failure);
  const stillOpen = () => {
    console.error('still open: ' + process.getActiveResourcesInfo().join(', '));
    process.exit(1);
  };
  setTimeout(stillOpen, 20_000).unref();`;

// fault: the network forgets five open connections, and no end of a connection gets through
test('guarantee 11: a process ends after close although the network has forgotten its connections', async () => {
  const proxy = await startProxy(await postgresUrl());
  const child = spawn(process.execPath, ['--input-type=module-typescript', '-e', CODE, proxy.url]);
  onTestFinished(() => void child.kill('SIGKILL'));
  const errors = text(child.stderr);
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  expect(String(line)).toBe('connected\n');
  proxy.freeze();
  proxy.thaw();
  const rest = text(child.stdout);
  const exit = once(child, 'exit');
  child.stdin.write('go on\n');
  const [exitCode] = await exit;
  expect({ exitCode, rest: await rest, errors: await errors }).toMatchObject({
    ...{ exitCode: 0, errors: '' },
    rest: expect.stringContaining('did not answer in time'),
  });
});
