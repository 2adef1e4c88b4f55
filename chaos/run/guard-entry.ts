// Cleans up after a run, however its process ends: its input ends with it. Each line of it is an order.
import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { GuardOrder } from './guard.ts';

const pids = new Set<number>();
const disks: string[] = [];
const folders = new Set<string>();

for await (const line of createInterface({ input: process.stdin })) {
  const order = JSON.parse(line) as GuardOrder;
  if (order.do === 'watch') pids.add(order.pid);
  else if (order.do === 'forget') pids.delete(order.pid);
  else if (order.do === 'unmount') disks.push(order.path);
  else if (order.do === 'remove') folders.add(order.path);
  else folders.delete(order.path);
}

for (const pid of pids) {
  try {
    // Also ends a process that is stopped.
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
}
// Lazily, because a process that has just been killed may still have a file open.
for (const path of disks) spawnSync('umount', ['--lazy', path]);
for (const path of folders) rmSync(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
