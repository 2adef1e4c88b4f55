import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { contain, firstLine, lack, MB, node } from '../testing/contain.ts';
import { findGroupParent, groupParent } from './group-parent.ts';

/** Files as the kernel has them in a folder of cgroup v2, which here do nothing. */
function fakeFolder(files: Readonly<Record<string, string>>): string {
  const root = mkdtempSync(join(tmpdir(), 'waybill-cgroup-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  }
  return root;
}

const OURS = { 'cgroup.controllers': 'cpu memory pids\n', 'cgroup.subtree_control': 'memory\n' };

describe.skipIf(lack)(`a program in a memory group (skipped: ${lack})`, () => {
  /** Starts a program that kills itself when it is told, with its group. */
  async function begun(env: Record<string, string> = {}) {
    const parent = fakeFolder(OURS);
    const { hooks, line } = firstLine();
    const started = contain(['sh', '-c', 'echo ready; read x <&3; kill -KILL $$'], {
      ...{ channel: true, hooks, cgroup: parent, limits: { memoryBytes: 50 * MB } },
      env: { PATH: process.env['PATH']!, ...env },
    });
    await line;
    const [name] = readdirSync(parent).filter((one) => one.startsWith('waybill-'));
    const file = (of: string) => join(parent, name!, of);
    return { started, read: (of: string) => readFileSync(file(of), 'utf8').trim(), file };
  }

  it.each([
    ['enters it by itself', {}],
    ['is brought in where a shell would change its environment', { 'npm.name': 'x' }],
  ])('%s, and is ended, measured and judged by it', async (_, env) => {
    const { started, read, file } = await begun(env);
    expect(read('memory.max')).toBe(String(50 * MB));
    expect([read('memory.swap.max'), read('memory.oom.group')]).toEqual(['0', '1']);
    expect(read('cgroup.procs')).toBe(String(started.pid));
    writeFileSync(file('memory.current'), '40000000\n');
    await vi.waitFor(() => expect(started.usage().memoryBytes).toBe(40_000_000), { timeout: 20_000, interval: 20 });
    writeFileSync(file('memory.peak'), '49000000\n');
    writeFileSync(file('memory.events'), 'low 0\noom 1\noom_kill 1\n');
    started.send('go');
    const end = await started.outcome();
    expect(end).toMatchObject({
      outcome: 'oom',
      message: 'The kernel ended the program at its memory limit of 47.7 MiB.',
    });
    expect(end.usage.peakMemoryBytes).toBe(49_000_000);
    expect(read('cgroup.kill')).toBe('1');
  });

  it('has one only where it has a limit, and the folder takes it', async () => {
    const parent = fakeFolder(OURS);
    expect(await contain(['true'], { cgroup: parent }).outcome()).toMatchObject({ outcome: 'exited' });
    expect(readdirSync(parent)).toEqual(Object.keys(OURS));
    const none = { cgroup: '/no/such/folder', limits: { memoryBytes: 50 * MB } };
    expect(await contain(['true'], none).outcome()).toMatchObject({ outcome: 'exited' });
  });

  const cannot = groupParent() === null ? 'needs cgroup v2 with the memory controller, left to the worker' : undefined;
  it.skipIf(cannot)(`is ended by the kernel at its limit (skipped: ${cannot})`, async () => {
    const hog = 'const all = []; setInterval(() => all.length < 20 && all.push(Buffer.alloc(15e6, 1)), 1)';
    const end = await node(hog, { limits: { memoryBytes: 150 * MB } }).outcome();
    expect(end).toMatchObject({ outcome: 'oom', message: expect.stringContaining('The kernel ended the program') });
    expect(end.usage.peakMemoryBytes).toBeLessThanOrEqual(150 * MB);
  });
});

describe('where groups may be made', () => {
  /** The answer for a worker in this group, where the folders have these files. */
  function found(own: string, files: Record<string, string>): { path: string | null; root: string } {
    const root = fakeFolder({ ...files, self: `4:memory:/x\n0::${own}\n` });
    return { path: findGroupParent({ root, self: join(root, 'self') }), root };
  }
  const below = (folder: string, files: Record<string, string> = OURS) =>
    Object.fromEntries(Object.entries(files).map(([name, text]) => [`${folder}/${name}`, text]));

  it('is beside the worker, where the folder above it was left to it', () => {
    const { path, root } = found('/system.slice/jobs.service/worker', below('system.slice/jobs.service'));
    expect(path).toBe(join(root, 'system.slice/jobs.service'));
  });

  it('is there once the memory controller is on, which the worker sees to', () => {
    const { path } = found('/jobs/worker', below('jobs', { ...OURS, 'cgroup.subtree_control': 'cpu\n' }));
    expect(readFileSync(join(path!, 'cgroup.subtree_control'), 'utf8')).toBe('+memory');
  });

  it.each<[string, string, Record<string, string>]>([
    ['in a slice, which belongs to the service manager', '/system.slice/jobs.service', below('system.slice')],
    ['at the root', '/jobs', OURS],
    ['where the worker is the root itself', '/', OURS],
    ['without the memory controller', '/jobs/worker', below('jobs', { ...OURS, 'cgroup.controllers': 'cpu pids\n' })],
    ['where there is no cgroup v2', '/jobs/worker', {}],
  ])('is nowhere %s', (_, own, files) => {
    expect(found(own, files).path).toBeNull();
  });

  it('is without the groups that dead workers have left', () => {
    const [dead, living] = ['waybill-999999999-a', `waybill-${process.ppid}-b`];
    const parent = fakeFolder(OURS);
    for (const name of [dead, living, 'other']) mkdirSync(join(parent, name));
    expect(groupParent(parent)).toBe(parent);
    expect([dead, living, 'other'].map((name) => existsSync(join(parent, name)))).toEqual([false, true, true]);
  });
});
