import { describe, expect, it } from 'vitest';
import { contain, lack, MB, node, sh } from '../testing/contain.ts';

describe.skipIf(lack)(`the memory limit (skipped: ${lack})`, () => {
  /** At most 300 MB. */
  const HOG = 'const all = []; setInterval(() => all.length < 20 && all.push(Buffer.alloc(15e6, 1)), 20)';

  it('oom: one process', async () => {
    const end = await node(HOG, { limits: { memoryBytes: 150 * MB } }).outcome();
    expect(end).toMatchObject({ outcome: 'oom', signal: 'SIGKILL' });
    expect(end.message).toMatch(/^The program used \d{3}(\.\d)? MiB of memory\. The limit is 143\.1 MiB\.$/);
    expect(end.usage.peakMemoryBytes).toBeGreaterThan(150 * MB);
  });

  it('oom: children that are each below the limit', async () => {
    const child = `const bytes = Buffer.alloc(60e6, 1); setInterval(() => bytes, 1000)`;
    const script = `for (let i = 0; i < 3; i++) child_process.spawn(process.execPath, ['-e', ${JSON.stringify(child)}])`;
    expect(await node(script, { limits: { memoryBytes: 180 * MB } }).outcome()).toMatchObject({ outcome: 'oom' });
  });

  it('oom: an orphan that called setsid', async () => {
    const script = `(setsid ${process.execPath} -e '${HOG}' &); sleep 1000`;
    expect(await sh(script, { limits: { memoryBytes: 150 * MB } }).outcome()).toMatchObject({ outcome: 'oom' });
  });

  it('memory that forks share counts once', async () => {
    // 16 MB of text in a shell, and 12 copies of that shell.
    const script = `x=0123456789abcdef; for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do x=$x$x; done
      for i in 1 2 3 4 5 6 7 8 9 10 11 12; do (while read -r line; do :; done) <&3 & done; wait`;
    const started = sh(script, { channel: true, limits: { memoryBytes: 100 * MB } });
    await new Promise<void>((resolve) => {
      const look = () =>
        started.usage().cpuMs > 0 && started.usage().elapsedMs > 500 ? resolve() : setTimeout(look, 10);
      look();
    });
    started.end('cancelled');
    expect(await started.outcome()).toMatchObject({ outcome: 'cancelled' });
  });

  it('oom: the heap limit of a JavaScript engine', async () => {
    const args = ['--max-old-space-size=20', '-e', 'const all = []; for (;;) all.push(new Array(1000).fill({}))'];
    expect(await contain([process.execPath, ...args]).outcome()).toMatchObject({ outcome: 'oom', signal: 'SIGABRT' });
  });

  it('oom: the same, when a shell tells of it by its exit code', async () => {
    const script = `'${process.execPath}' --max-old-space-size=20 -e 'const all = []; for (;;) all.push(new Array(1000).fill({}))'; exit $?`;
    expect(await sh(script).outcome()).toMatchObject({ outcome: 'oom', exitCode: 134 });
  });
});

describe.skipIf(lack)(`the CPU limit (skipped: ${lack})`, () => {
  it('cpu_limit: one busy process, although it ignores signals', async () => {
    const end = await sh('trap "" TERM XCPU; while :; do :; done', { limits: { cpuMs: 300 } }).outcome();
    expect(end).toMatchObject({ outcome: 'cpu_limit', signal: 'SIGKILL' });
    expect(end.message).toMatch(/^The program used \d+(\.\d+)? s of CPU time\. The limit is 0\.3 s\.$/);
  });

  it('cpu_limit: several busy children, each of which is below the limit', async () => {
    const end = await sh('for i in 1 2 3 4; do while :; do :; done & done; wait', { limits: { cpuMs: 500 } }).outcome();
    expect(end.outcome).toBe('cpu_limit');
    expect(end.usage.cpuMs).toBeGreaterThan(500);
  });

  it('cpu_limit: orphans that are gone before they reach it', async () => {
    const spin = 'i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done';
    const script = `while :; do (sh -c '${spin}; echo x >&3' &); read x <&3 || exit 1; done`;
    // The worker answers each line, so the next orphan starts when one has ended.
    const started = sh(script, {
      channel: true,
      limits: { cpuMs: 500 },
      hooks: { onLine: () => started.send('next') },
    });
    const end = await started.outcome();
    expect(end.outcome).toBe('cpu_limit');
  });

  it('time spent asleep does not count', async () => {
    expect(await sh('sleep 0.5', { limits: { cpuMs: 400 } }).outcome()).toMatchObject({ outcome: 'exited' });
  });
});
