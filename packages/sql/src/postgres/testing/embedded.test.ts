import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';

test('a process that has used the server keeps its exit code, so that failed tests count', async () => {
  const code = `
    import { startPostgres } from '${new URL('./embedded.ts', import.meta.url)}';
    await (await startPostgres()).remove();
    process.exitCode = 3;`;
  const child = spawn(process.execPath, ['--input-type=module-typescript', '-e', code], { stdio: 'inherit' });
  expect(await once(child, 'exit')).toEqual([3, null]);
});
