import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { lack, livingOf } from '../testing/contain.ts';
import { OwnedProcess } from './owned-process.ts';
import { listPids, readMark } from './proc-files.ts';

let count = 0;

function own(script: string, killAfterMs = 10_000): { owned: OwnedProcess; mark: string } {
  count += 1;
  const mark = `test-owned-${process.pid}-${count}`;
  const env = { PATH: process.env['PATH'] };
  return { owned: new OwnedProcess({ command: 'sh', args: ['-c', script], env, mark, killAfterMs }), mark };
}

describe.skipIf(lack)(`a program that its owner talks to (skipped: ${lack})`, () => {
  it('has streams, and takes what it has left behind with it when it ends by itself', async () => {
    const { owned, mark } = own('(setsid sleep 1000 > /dev/null 2>&1 &); read line; echo "heard $line"; exit 3');
    owned.child.stdin.end('hello\n');
    expect(await text(owned.child.stdout)).toBe('heard hello\n');
    expect(await owned.close(60_000)).toEqual({ code: 3, signal: null });
    expect(await livingOf(owned.child.pid!, mark)).toEqual([]);
  });

  it('ends with all of its tree, although it ignores SIGTERM', async () => {
    const { owned, mark } = own(
      'trap "" TERM; (setsid sh -c \'trap "" TERM; sleep 1000\' &); echo ready; sleep 1000',
      200,
    );
    await new Promise((resolve) => owned.child.stdout.once('data', resolve));
    owned.terminate();
    expect(await owned.ended).toEqual({ code: null, signal: 'SIGKILL' });
    expect(await livingOf(owned.child.pid!, mark)).toEqual([]);
  });

  it('that cannot be started ends at once', async () => {
    const parts = { args: [], env: {}, mark: 'test-owned-none', killAfterMs: 1 };
    expect(await new OwnedProcess({ command: '/no/such/program', ...parts }).close(60_000)).toEqual({
      code: null,
      signal: null,
    });
  });
});

describe.skipIf(lack)(`a run inside of a run (skipped: ${lack})`, () => {
  // fault: the outer run ends at once, so that the inner one has no time to end what it has started
  it('leaves nothing when the outer one ends, whatever its own mark is', async () => {
    const inner =
      'export WAYBILL_RUN="$WAYBILL_RUN/inner"; (setsid sh -c "echo ready; exec sleep 1000" &); exec sleep 1000';
    const { owned, mark } = own(inner);
    const line = await new Promise((resolve) => owned.child.stdout.once('data', resolve));
    expect(String(line)).toBe('ready\n');
    const marked = async () => {
      const pids = listPids()!;
      const marks = await Promise.all(pids.map((pid) => readMark(pid)));
      return pids.filter((_, at) => marks[at]?.startsWith(`${mark}/`));
    };
    expect((await marked()).length).toBeGreaterThan(0);
    owned.terminate();
    await owned.ended;
    expect(await marked()).toEqual([]);
  });
});
