import { open, readdir } from 'node:fs/promises';
import path from 'node:path';
import { OWNED } from './outbox-files.ts';
import { isHeld } from './outbox-lock.ts';
import { isRunning, nameOf, parseOwner, SELF } from './outbox-owner.ts';
import { type Scanned, scan } from './wal-io.ts';

/**
 * Who has a file: a worker that runs, one that has ended, one of another machine, of which nothing is known here; or its entries were
 * refused, and it lies in `lost/`.
 */
export type OutboxFileState = 'open' | 'left' | 'elsewhere' | 'lost';

/** What one file of an outbox has that no server has answered for. */
export interface OutboxFile {
  /** Its path below the folder. */
  name: string;
  tenant: string;
  jobId: string;
  run: number;
  state: OutboxFileState;
  entries: number;
  critical: number;
  bytes: number;
  /** Of the oldest and of the newest of these entries; null where there are none. */
  oldestAt: number | null;
  newestAt: number | null;
  /** At the end, from a crash in the midst of a record. */
  tornBytes: number;
}

export interface OutboxContents {
  files: OutboxFile[];
  /** What could not be read, and why. */
  unreadable: { name: string; reason: string }[];
}

/** Reads an outbox, and changes nothing in it: no file is taken over, cut off or sent. Rejects where there is no such folder. */
export async function readOutbox(folder: string): Promise<OutboxContents> {
  const root = path.resolve(folder);
  const contents: OutboxContents = { files: [], unreadable: [] };
  const lost = await readdir(path.join(root, 'lost')).catch(() => []);
  const names = [...(await readdir(root)), ...lost.map((name) => path.join('lost', name))];
  for (const name of names.filter((one) => OWNED.test(path.basename(one))).sort()) {
    try {
      const found = await read(root, name);
      if (found) contents.files.push(found);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      // Sent meanwhile, or taken over under another name.
      if (code !== 'ENOENT') contents.unreadable.push({ name, reason: code ?? 'it is no file of an outbox' });
    }
  }
  return contents;
}

async function read(root: string, name: string): Promise<OutboxFile | undefined> {
  const file = await open(path.join(root, name), 'r');
  try {
    const found = await scan(file);
    if (!found) throw new Error('There is no header.');
    return { name, ...factsOf(found), state: await stateOf(root, name) };
  } finally {
    await file.close();
  }
}

/** The lease token stays in the file. */
function factsOf({ header: { tenant, id, run }, unsent, end, size }: Scanned): Omit<OutboxFile, 'name' | 'state'> {
  const sum = (of: (batch: Scanned['unsent'][number]) => number) => unsent.reduce((all, batch) => all + of(batch), 0);
  return {
    ...{ tenant, jobId: id, run, tornBytes: size - end },
    entries: sum(({ entries }) => entries),
    critical: sum(({ critical }) => critical),
    bytes: sum((batch) => batch.end - batch.start),
    oldestAt: unsent.length === 0 ? null : Math.min(...unsent.map(({ firstAt }) => firstAt)),
    newestAt: unsent.length === 0 ? null : Math.max(...unsent.map(({ lastAt }) => lastAt)),
  };
}

async function stateOf(root: string, name: string): Promise<OutboxFileState> {
  if (path.dirname(name) !== '.') return 'lost';
  const owner = parseOwner(OWNED.exec(name)?.[2] ?? '');
  if (!owner) return 'elsewhere';
  if (owner.host === SELF.host) return isRunning(owner) ? 'open' : 'left';
  const held = await isHeld(root, nameOf(owner));
  return held === undefined ? 'elsewhere' : held ? 'open' : 'left';
}
