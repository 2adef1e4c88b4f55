import { describe, expect, it, vi } from 'vitest';
import { contain, firstLine, fixture, lack, sh } from '../testing/contain.ts';
import { readStat } from './proc-files.ts';

/** Ends with code 0 when it gets SIGTERM. */
const POLITE = 'trap "exit 0" TERM; echo ready; while :; do sleep 0.01; done';
const DEAF = 'trap "" TERM; echo ready; while :; do sleep 0.01; done';

describe.skipIf(lack)(`ending a contained program (skipped: ${lack})`, () => {
  it('SIGTERM first; the cause decides, not the exit code', async () => {
    const { hooks, line } = firstLine();
    const started = sh(POLITE, { hooks });
    await line;
    started.end('cancelled');
    expect(await started.outcome()).toMatchObject({ outcome: 'cancelled', exitCode: 0, signal: null });
  });

  it('SIGKILL when SIGTERM is ignored', async () => {
    const { hooks, line } = firstLine();
    const started = sh(DEAF, { hooks, limits: { killAfterMs: 150 } });
    await line;
    const endedAt = performance.now();
    started.end('cancelled');
    expect(await started.outcome()).toMatchObject({ outcome: 'cancelled', signal: 'SIGKILL' });
    expect(performance.now() - endedAt).toBeGreaterThan(149);
    expect(performance.now() - endedAt).toBeLessThan(5000);
  });

  it('SIGTERM at the end of its time', async () => {
    const end = await sh('exec sleep 1000', { limits: { timeoutMs: 100 } }).outcome();
    expect(end).toMatchObject({
      outcome: 'timeout',
      signal: 'SIGTERM',
      message: 'The program ran longer than its limit of 100 ms.',
    });
  });

  it('kill is SIGKILL at once', async () => {
    const { hooks, line } = firstLine();
    const started = sh(DEAF, { hooks, limits: { killAfterMs: 60_000 } });
    await line;
    started.kill('lost');
    expect(await started.outcome()).toMatchObject({ outcome: 'lost', signal: 'SIGKILL' });
  });

  it('the first cause stands, and a later one may hurry', async () => {
    const { hooks, line } = firstLine();
    const started = sh(DEAF, { hooks, limits: { killAfterMs: 60_000 } });
    await line;
    started.end('cancelled', 60_000);
    started.end('timeout');
    started.kill('lost');
    expect(await started.outcome()).toMatchObject({ outcome: 'cancelled', signal: 'SIGKILL' });
  });

  it('a program that was told by its channel has time to end by itself', async () => {
    const started = sh('read line <&3; echo "told: $line"; exit 0', { channel: true });
    started.end('cancelled', 60_000);
    started.send('please stop');
    expect(await started.outcome()).toMatchObject({
      outcome: 'cancelled',
      exitCode: 0,
      lastOutput: 'told: please stop\n',
    });
  });

  it('does nothing while the last processes of the tree are swept', async () => {
    const started = sh('read line <&3; (sleep 1000 &); exit 0', { channel: true, limits: { killAfterMs: 1 } });
    started.end('cancelled', 60_000);
    started.send('please stop');
    const hurry = setInterval(() => started.end('timeout'), 1);
    expect(await started.outcome()).toMatchObject({ outcome: 'cancelled' });
    clearInterval(hurry);
  });

  it('does nothing to what came before it', async () => {
    const started = sh('exit 5');
    const end = await started.outcome();
    started.end('cancelled');
    started.kill('lost');
    started.send('too late');
    expect(end).toMatchObject({ outcome: 'nonzero', exitCode: 5 });
  });

  it('the children of a shell that ends at once keep their time', async () => {
    const { hooks, line } = firstLine();
    const child = 'trap "echo cleaned up; exit 0" TERM; echo ready; while :; do sleep 0.01; done';
    const started = sh(`sh -c '${child}'; echo never`, { hooks });
    await line;
    started.end('cancelled');
    const end = await started.outcome();
    expect(end.outcome).toBe('cancelled');
    // The shell may say 'Terminated' on stderr, at any time.
    expect(end.lastOutput.replace(/^Terminated.*\n/m, '')).toBe('ready\ncleaned up\n');
  });

  it('an escaped grandchild gets SIGTERM too', async () => {
    const { hooks, line } = firstLine();
    const started = sh(`setsid sh -c '${POLITE}; echo bye' & wait`, { hooks });
    await line;
    started.end('cancelled');
    expect((await started.outcome()).outcome).toBe('cancelled');
  });

  it.each([
    ['that would end by SIGTERM', 'kill -STOP $$', 'SIGTERM'],
    ['that ignores SIGTERM', 'trap "" TERM; while :; do kill -STOP $$; done', 'SIGKILL'],
  ])('a stopped program %s', async (_, script, signal) => {
    const started = sh(script, { limits: { killAfterMs: signal === 'SIGTERM' ? 60_000 : 100 } });
    await vi.waitFor(() => expect(readStat(started.pid!)).toMatchObject({ state: 'T' }), {
      timeout: 20_000,
      interval: 5,
    });
    started.end('cancelled');
    expect(await started.outcome()).toMatchObject({ outcome: 'cancelled', signal });
  });
});

describe.skipIf(lack)(`what outlives a contained program (skipped: ${lack})`, () => {
  it.each([
    ['a child', 'sleep 1000 & exit 0'],
    ['an orphan', '(sleep 1000 &); exit 0'],
    ['a child that called setsid', 'setsid sleep 1000 & echo $!; exit 0'],
    ['an orphan that called setsid', '(setsid sh -c "echo ready; exec sleep 1000" &); read x; exit 0'],
    [
      'an orphan that ignores signals',
      '(setsid sh -c \'trap "" TERM HUP INT; while :; do sleep 0.01; done\' &); exit 0',
    ],
    ['a child without environment', 'env -i sleep 1000 & exit 0'],
  ])('%s is ended, although it holds stdout', async (_, script) => {
    const startedAt = performance.now();
    expect(await sh(script).outcome()).toMatchObject({ outcome: 'exited', exitCode: 0 });
    expect(performance.now() - startedAt).toBeLessThan(10_000);
  });

  it('a process that left the group and wiped its environment is ended when a scan saw it before', async () => {
    const { hooks, line } = firstLine();
    const started = sh('env -i setsid sh -c "echo \\$\\$; exec sleep 1000" & read x <&3; exit 0', {
      hooks,
      channel: true,
    });
    const escaped = Number(await line);
    await vi.waitFor(() => expect(started.usage().memoryBytes).toBeGreaterThan(0), { timeout: 20_000, interval: 5 });
    started.send('end');
    await started.outcome();
    expect(readStat(escaped)?.zombie ?? true).toBe(true);
  });

  it('a chain of escapees, each of which starts the next one and ends', async () => {
    expect(await contain(['sh', fixture('escape.sh'), '300']).outcome()).toMatchObject({ outcome: 'exited' });
  });
});
