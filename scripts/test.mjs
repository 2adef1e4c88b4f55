// Runs the tests; vitest gets what follows on the command line. When V8 itself aborts in the process of a test file, and no
// test has failed, that file is run again, at most three times, and it is said so. It was seen where threads come and go
// by the hundred (`Check failed: jit_page.has_value()`, nodejs/node issue 64500 tells of the same); since the SQLite store
// uses its threads again, not any more. A failed test is never repeated.
import { spawn } from 'node:child_process';
import path from 'node:path';
import { stripVTControlCharacters } from 'node:util';

const CRASH = /exited unexpectedly with signal (?:SIGSEGV|SIGTRAP|SIGBUS|SIGILL)[^\n]*while running test file (\S+)/g;

const options = process.argv.slice(2);

function vitest(files) {
  return new Promise((resolve) => {
    const child = spawn('vitest', ['run', ...options, ...files], {
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

const MOST_RUNS = 4;
let files = [];
for (let run = 1; ; run += 1) {
  const { code, output } = await vitest(files);
  files = [...new Set([...output.matchAll(CRASH)].map(([, file]) => path.relative(process.cwd(), file)))];
  const hasFailure = /^\s*(Tests|Test Files)\s.*\d+ failed/m.test(output);
  if (code === 0 || files.length === 0 || hasFailure || run === MOST_RUNS) process.exit(code);
  console.error(`Node crashed in ${files.join(', ')}; no test had failed. Running these files once more.`);
}
