// Runs vitest in a tree and reads its report.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';

const CONFIG = 'scripts/mutants/vitest.config.ts';
const BIN = 'node_modules/.bin';

/** Resolves with the code and what was written. */
export function run(tree, command, args, env = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(path.join(tree, BIN, command), args, {
      cwd: tree,
      env: { ...process.env, ...env, NO_COLOR: '1' },
      stdio: ['ignore', 'pipe', 'pipe'],
      shell: process.platform === 'win32',
    });
    const stop = () => child.kill();
    process.prependOnceListener('exit', stop);
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
    child.once('error', reject);
    child.once('close', (code) => {
      process.off('exit', stop);
      resolve({ code, output });
    });
  });
}

/** The report of these tests; null when vitest wrote none. */
export async function runTests(tree, { files, title, env = {}, workers = 1 }) {
  const file = path.join(tree, 'report.json');
  rmSync(file, { force: true });
  const config = existsSync(path.join(tree, CONFIG)) ? ['--config', CONFIG] : [];
  const options = [...config, '--reporter=json', `--outputFile=${file}`, `--maxWorkers=${workers}`];
  const { output } = await run(tree, 'vitest', ['run', ...files, '-t', title, ...options], env);
  return { report: existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : null, output };
}
