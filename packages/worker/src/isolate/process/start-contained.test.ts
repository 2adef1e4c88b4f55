import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { contain, lack, node, otherUser, sh } from '../testing/contain.ts';

describe.skipIf(lack)(`a contained program (skipped: ${lack})`, () => {
  it('exited: exit code 0, with the end of its output', async () => {
    const end = await sh('echo out; echo err >&2').outcome();
    expect(end).toMatchObject({
      outcome: 'exited',
      exitCode: 0,
      signal: null,
      message: 'The program ended with exit code 0.',
    });
    expect([...end.lastOutput.split('\n')].sort()).toEqual(['', 'err', 'out']);
    expect(end.usage).toMatchObject({ outputBytes: 8 });
  });

  it.each([1, 13, 126, 127, 134, 137, 255])('nonzero: exit code %i of the program itself', async (code) => {
    expect(await sh(`exit ${code}`).outcome()).toMatchObject({
      outcome: 'nonzero',
      exitCode: code,
      message: `The program ended with exit code ${code}.`,
    });
  });

  it.each(['SIGKILL', 'SIGSEGV', 'SIGTERM'] as const)('signal: death by %s', async (signal) => {
    expect(await sh(`kill -${signal.slice(3)} $$`).outcome()).toMatchObject({
      outcome: 'signal',
      exitCode: null,
      signal,
      message: `The program was ended by ${signal}. The worker did not send it.`,
    });
  });

  it('gets exactly its environment and the mark', async () => {
    const env = { PATH: process.env['PATH']!, 'a.b': 'dots', 'x-y': 'dashes', OPTIND: 'not a number', empty: '' };
    const started = node('console.log(JSON.stringify(process.env))', { env });
    const { lastOutput } = await started.outcome();
    expect(JSON.parse(lastOutput)).toEqual({ ...env, WAYBILL_RUN: started.mark });
  });

  it('has no descriptors but the four, and no child that it did not start', async () => {
    const script = `
      const open = fs.readdirSync('/proc/self/fd').filter((fd) => Number(fd) < 1000);
      const ends = open.map((fd) => { try { return fs.readlinkSync('/proc/self/fd/' + fd) } catch { return '' } });
      console.log(ends.filter((end) => end.startsWith('socket:')).length, fs.readFileSync('/proc/self/task/' + process.pid + '/children', 'utf8'));`;
    const { lastOutput } = await node(script, { stdin: 'x', channel: true }).outcome();
    expect(lastOutput).toBe('4 \n');
  });

  it.skipIf(!otherUser.user)('runs as another user, with no way back (needs root)', async () => {
    const { lastOutput } = await sh(
      'id -u; id -G; grep -E "^(CapBnd|NoNewPrivs)" /proc/self/status',
      otherUser,
    ).outcome();
    expect(lastOutput.split(/\s+/)).toEqual(['65534', '65534', 'CapBnd:', '0000000000000000', 'NoNewPrivs:', '1', '']);
  });

  it('gives way to the worker', async () => {
    const { lastOutput } = await sh('nice; cat /proc/self/oom_score_adj').outcome();
    expect(lastOutput).toBe('10\n800\n');
  });
});

describe.skipIf(lack)(`stdin of a contained program (skipped: ${lack})`, () => {
  it('is what was given, and then ends', async () => {
    expect(await contain(['cat'], { stdin: 'to the last byte' }).outcome()).toMatchObject({
      outcome: 'exited',
      lastOutput: 'to the last byte',
    });
  });

  it('has ended where nothing was given', async () => {
    expect(await contain(['cat']).outcome()).toMatchObject({ outcome: 'exited', lastOutput: '' });
  });

  it('may stay unread: 4 MB, and the program ends', async () => {
    expect(await sh('exit 3', { stdin: 'x'.repeat(4_000_000) }).outcome()).toMatchObject({
      outcome: 'nonzero',
      exitCode: 3,
    });
  });

  it('may stay unread: 4 MB, and the program goes on until its time is over', async () => {
    const end = await sh('exec sleep 1000', { stdin: 'x'.repeat(4_000_000), limits: { timeoutMs: 200 } }).outcome();
    expect(end).toMatchObject({ outcome: 'timeout', signal: 'SIGTERM' });
  });
});

describe.skipIf(lack)(`spawn_failed (skipped: ${lack})`, () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'waybill-start-'));
  const file = (name: string, text: string, mode: number) => {
    writeFileSync(path.join(folder, name), text, { mode });
    return path.join(folder, name);
  };

  it.each<[string, Parameters<typeof contain>, RegExp]>([
    ['no such program in PATH', [['no-such-program']], /The program 'no-such-program' is in no folder of PATH '\//],
    ['no such file', [['/no/such/program']], /The program '\/no\/such\/program' does not exist\./],
    ['not executable', [[file('text', 'hello', 0o644)]], /The program '.*\/text' is not an executable file\./],
    ['a folder', [[folder]], /The program '.*' is not an executable file\./],
    [
      'a missing interpreter',
      [[file('script', '#!/no/such/interpreter\n', 0o755)]],
      /could not be started: .*No such file/,
    ],
    [
      'no such working folder',
      [['true'], { cwd: '/no/such/folder' }],
      /working folder '\/no\/such\/folder' does not exist/,
    ],
    ['a working folder that is a file', [['true'], { cwd: file('plain', '', 0o644) }], /'.*\/plain' is not a folder/],
    ['a huge variable', [['true'], { env: { PATH: '/bin', X: 'x'.repeat(200_000) } }], /too large.*E2BIG/],
    ['huge arguments', [['true', ...new Array(40).fill('x'.repeat(100_000))]], /too large.*E2BIG/],
    ['a NUL in an argument', [['true', 'a\0b']], /could not be started: .*null bytes/],
    ['a mark that is more than a word', [['true'], { mark: 'a b' }], /Invalid mark 'a b'/],
  ])('%s', async (_, given, message) => {
    const started = contain(...given);
    expect(started.pid === null || started.pid > 0).toBe(true);
    const end = await started.outcome();
    expect(end.message).toMatch(message);
    expect(end.outcome).toBe('spawn_failed');
  });

  it('many variables that are not too large are no failure', async () => {
    const env = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`V${index}`, 'x'.repeat(10_000)]));
    const script = 'env | wc -c';
    const { outcome, lastOutput } = await sh(script, { env: { ...env, PATH: process.env['PATH']! } }).outcome();
    expect(outcome).toBe('exited');
    expect(Number(lastOutput)).toBeGreaterThan(1_000_000);
  });
});
