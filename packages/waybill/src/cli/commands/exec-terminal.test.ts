import { spawn, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { programWorker } from '../testing/program-worker.ts';
import { folder } from '../testing/terminal.ts';

const BIN = path.resolve(import.meta.dirname, '../../../bin/waybill.js');
const NODE = path.dirname(process.execPath);

/** Accepted nowhere but where the program `script`, of util-linux, is missing. */
const lacksScript =
  !/util-linux/.test(String(spawnSync('script', ['--version']).stdout)) && process.env['CI'] !== 'true';

/** What a shell at a real terminal of 80 columns shows of a command, and its exit code. */
async function atTerminal(
  line: string,
  cwd: string,
  env: Record<string, string>,
): Promise<{ code: number; shown: string }> {
  const child = spawn('script', ['-qec', `stty cols 80 rows 24; ${line}`, '/dev/null'], {
    cwd,
    env: { ...process.env, PATH: `${NODE}:${process.env['PATH']}`, TERM: 'xterm-256color', SHELL: '/bin/sh', ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let shown = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    shown += text;
  });
  const code = await new Promise<number>((resolve) => child.once('close', resolve));
  return { code, shown: stripVTControlCharacters(shown).replaceAll('\r\n', '\n') };
}

test.skipIf(lacksScript)(
  'exec --follow -- npm test in a terminal of 80 columns (needs script of util-linux)',
  async () => {
    const cwd = folder();
    const test = "node -e \"console.log('x'.repeat(100)); console.error('one test failed'); process.exit(3)\"";
    writeFileSync(path.join(cwd, 'package.json'), JSON.stringify({ name: 'tried', private: true, scripts: { test } }));
    const store = `sqlite:${path.join(cwd, 'jobs.db')}`;
    await programWorker(store, '--quiet', '--exec', '--queues', 'ci');
    const env = { WAYBILL_STORE: store, npm_config_update_notifier: 'false' };
    const waybill = `node ${BIN} exec --queue ci --cwd ${cwd}`;
    const { code, shown } = await atTerminal(`${waybill} --follow -- npm test`, cwd, env);
    expect(shown).toMatch(/^waybill: job [\w-]{36} in queue ci\n/);
    expect(shown).toContain(`\n${'x'.repeat(100)}\n`);
    expect(shown).toContain('\none test failed\n');
    expect(code).toBe(3);

    const plain = await atTerminal(`${waybill} -- npm test`, cwd, env);
    expect(plain).toMatchObject({ code: 0, shown: expect.stringContaining('Follow it: waybill logs ') });
    for (const line of plain.shown.split('\n')) expect(line.length, line).toBeLessThanOrEqual(80);
  },
);
