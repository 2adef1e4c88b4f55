import { createHash, randomBytes } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

export const short = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 12);

/** The owner of an outbox file, as the name of the file has it: one thread of one process. */
export interface Owner {
  /** Who can look each other up by their ids: on Linux one boot and one namespace of process ids. */
  host: string;
  /** On Linux the id of the thread, which for the main thread is the id of the process; elsewhere the id of the process. */
  pid: number;
  /** Differs for two threads that have the same id one after the other. Undefined where the system does not report it. */
  start: string | undefined;
  nonce: string;
}

const OWNER_PATTERN = /^([0-9a-f]{12})-(\d+)(?:-([0-9a-f]{12}))?-([0-9a-f]{12})$/;

/** Linux only: identifies a thread by the boot of the machine and its start time. `null`: the thread has ended. */
export function startOf(pid: number): string | null | undefined {
  const stat = contentOf(`/proc/${pid}/stat`);
  const boot = contentOf('/proc/sys/kernel/random/boot_id');
  if (stat === undefined || boot === undefined) return undefined;
  // The second field is a name in parentheses and may have spaces in it. The third is the state, the 22nd the start time.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return /^[ZX]/i.test(fields[0]!) ? null : short(`${boot}${fields[19]}`);
}

/** This thread, for as long as it runs. */
export const SELF: Owner = self();

export function nameOf({ host, pid, start, nonce }: Owner): string {
  return [host, pid, ...(start === undefined ? [] : [start]), nonce].join('-');
}

export function parseOwner(name: string): Owner | undefined {
  const match = OWNER_PATTERN.exec(name);
  return match ? { host: match[1]!, pid: Number(match[2]), start: match[3], nonce: match[4]! } : undefined;
}

/** Whether an owner on this host still runs. Where only the id is known, any process that has the id counts as the owner. */
export function isRunning({ pid, start }: Owner): boolean {
  if (!hasProcess(pid)) return false;
  const current = startOf(pid);
  if (current === null) return false;
  if (start !== undefined && current !== undefined) return start === current;
  // This thread writes its start time into each name where the system reports it: a name without one is not its own.
  return pid !== SELF.pid || start === SELF.start;
}

function self(): Owner {
  const host = hostId();
  const nonce = randomBytes(6).toString('hex');
  const thread = threadId();
  const start = thread === undefined ? undefined : startOf(thread);
  return typeof start === 'string' && thread !== undefined
    ? { host, pid: thread, start, nonce }
    : { host, pid: process.pid, start: undefined, nonce };
}

/**
 * Containers may have the same host name, and the same ids for their processes. Where Linux does not show its namespace, no other
 * process is looked up.
 */
function hostId(): string {
  if (process.platform !== 'linux') return short(hostname());
  const boot = contentOf('/proc/sys/kernel/random/boot_id');
  const namespace = linkOf('/proc/self/ns/pid');
  const known = boot === undefined || namespace === undefined ? randomBytes(6).toString('hex') : `${boot}${namespace}`;
  return short(`${hostname()}\n${known}`);
}

/** A synchronous call is made by the thread itself, so the system answers with the id of this thread. */
function threadId(): number | undefined {
  const id = Number(/\/task\/(\d+)$/.exec(linkOf('/proc/thread-self') ?? '')?.[1]);
  return Number.isSafeInteger(id) ? id : undefined;
}

function linkOf(at: string): string | undefined {
  try {
    return readlinkSync(at);
  } catch {
    return undefined;
  }
}

function contentOf(at: string): string | undefined {
  try {
    return readFileSync(at, 'utf8');
  } catch {
    return undefined;
  }
}

function hasProcess(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
