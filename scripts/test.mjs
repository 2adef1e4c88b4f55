// Runs the tests. When Node itself crashes in the process of a test file (seen rarely: a SIGSEGV or SIGTRAP where the
// SQLite store's threads come and go), and no test has failed, those files are run once more, and it is said so. A failed
// test is never repeated.
import { spawn } from 'node:child_process';
import path from 'node:path';
import { stripVTControlCharacters } from 'node:util';

const CRASH = /exited unexpectedly with signal (?:SIGSEGV|SIGTRAP|SIGBUS|SIGILL)[^\n]*while running test file (\S+)/g;

function vitest(files) {
  return new Promise((resolve) => {
    const child = spawn('vitest', ['run', ...files], {
      stdio: ['ignore', 'pipe', 'pipe'],
      shell: process.platform === 'win32',
    });
    let output = '';
    for (const [from, to] of [
      [child.stdout, process.stdout],
      [child.stderr, process.stderr],
    ]) {
      from.on('data', (chunk) => {
        output += chunk;
        to.write(chunk);
      });
    }
    child.on('close', (code) => resolve({ code: code ?? 1, output: stripVTControlCharacters(output) }));
  });
}

const first = await vitest([]);
const crashed = [...new Set([...first.output.matchAll(CRASH)].map(([, file]) => path.relative(process.cwd(), file)))];
const hasFailure = /^\s*(Tests|Test Files)\s.*\d+ failed/m.test(first.output);
if (first.code === 0 || crashed.length === 0 || hasFailure) process.exit(first.code);

console.error(`Node crashed in ${crashed.join(', ')}; no test had failed. Running these files once more.`);
const second = await vitest(crashed);
process.exit(second.code);
