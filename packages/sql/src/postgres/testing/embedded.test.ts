import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, watch } from 'node:fs';
import { dirname } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import type { PostgresServer } from './embedded.ts';
import { execute } from './server.ts';

/** A folder's end is told by the folder above it. */
function removed(folder: string): Promise<void> {
  return new Promise((resolve) => {
    const look = () => {
      if (existsSync(folder)) return;
      watcher.close();
      resolve();
    };
    const watcher = watch(dirname(folder), look);
    look();
  });
}

const run = (code: string) =>
  spawn(process.execPath, ['--input-type=module-typescript', '-e', code], { stdio: ['ignore', 'pipe', 'pipe'] });

test('a process that has used the server keeps its exit code, so that failed tests count', async () => {
  const code = `
    import { startPostgres } from '${new URL('./embedded.ts', import.meta.url)}';
    await (await startPostgres()).remove();
    process.exitCode = 3;`;
  const child = run(code);
  const [[exitCode], errors] = await Promise.all([once(child, 'exit'), text(child.stderr)]);
  expect({ exitCode, errors }).toEqual({ exitCode: 3, errors: '' });
});

test('a process that is killed leaves neither a server nor files behind', async () => {
  const child = run(`
    import { startPostgres } from '${new URL('./embedded.ts', import.meta.url)}';
    console.log(JSON.stringify(await startPostgres()));
    setInterval(() => {}, 1000);`);
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  const { url, folder } = JSON.parse(String(line)) as PostgresServer;
  expect(await execute(url, 'select 1')).toEqual([[1]]);
  child.kill('SIGKILL');
  await removed(folder);
  await expect(execute(url, 'select 1')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
});
