// Runs the tests; vitest gets what follows on the command line. When V8 itself aborts in the process of a test file, and no
// test has failed, that file is run again, at most three times, and it is said so. It was seen where threads come and go
// by the hundred (`Check failed: jit_page.has_value()`, nodejs/node issue 64500 tells of the same); since the SQLite store
// uses its threads again, not any more. A failed test is repeated only where WAYBILL_SECOND_TRY names a number of files, as
// CI does on machines that it does not have to itself: so many failed files run once more, alone, and are reported as
// unsteady when they pass then. More failed files than that fail at once.
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

const FAILED = /^\s*FAIL\s+(?:(?:together|apart)\s+)?(\S+\.test\.ts)/gm;
const filesOf = (pattern, output) => [
  ...new Set([...output.matchAll(pattern)].map(([, file]) => path.relative(process.cwd(), path.resolve(file)))),
];

/** The exit code of a second run of what has failed, where it may have one. */
async function secondTry(code, output) {
  const failed = filesOf(FAILED, output);
  const most = Number(process.env['WAYBILL_SECOND_TRY'] ?? 0);
  if (code === 0 || failed.length === 0 || failed.length > most) return code;
  console.error(`Failed: ${failed.join(', ')}. Running them once more, alone.`);
  const again = await vitest(failed);
  if (again.code === 0) console.error(`UNSTEADY, to be mended: ${failed.join(', ')} failed, and passed alone.`);
  return again.code;
}

const MOST_RUNS = 4;
let files = [];
for (let run = 1; ; run += 1) {
  const { code, output } = await vitest(files);
  files = filesOf(CRASH, output);
  const hasFailure = /^\s*(Tests|Test Files)\s.*\d+ failed/m.test(output);
  if (code === 0 || files.length === 0 || hasFailure || run === MOST_RUNS) process.exit(await secondTry(code, output));
  console.error(`Node crashed in ${files.join(', ')}; no test had failed. Running these files once more.`);
}
