import { mkdir, readdir, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { hold, isHeld, LOCK_PATTERN } from './outbox-lock.ts';
import { isRunning, nameOf, type Owner, parseOwner, SELF, short } from './outbox-owner.ts';

const OWNER = nameOf(SELF);
/** What stays of a name when a file is taken over, and its owner. */
export const OWNED = /^(.+)\.([0-9a-f-]+)\.wal$/;

/** How often an owner writes its sign of life. */
export const ALIVE_EVERY_MS = 10_000;
/**
 * How long an owner on another host may be silent. An owner whose file is taken over while it lives has to write its entries
 * again, so this must be longer than the longest pause after which a worker still holds its leases: a default lease of 30 s
 * and the time between two signs of life. It is no proof: with a longer lease, a worker whose event loop is blocked for so
 * long is taken for dead while it holds its runs. An owner on this host, or with a socket on this machine, is never judged by its silence.
 */
const SILENT_MS = 60_000;
/** How long, and how much of, what could not be sent is kept for the operator. The newest file is kept whatever its size. */
const LOST_MS = 7 * 86_400_000;
const LOST_BYTES = 64 * 1_024 * 1_024;
/** A longer tenant would not fit into the name of a file. */
const LONGEST_TENANT = 80;

/** Files that this thread has open. A file of its own that is not open has no owner any more. */
const open = new Set<string>();

export interface RunKey {
  tenant: string;
  id: string;
  run: number;
  leaseToken: string;
}

/**
 * The files of an outbox. A name has the job, the run and the claim, so that two runs never share a file, and its owner, so
 * that taking over a file is one rename: of two processes that try, one finds that the old name is gone.
 */
export class OutboxFiles {
  readonly folder: string;

  constructor(folder: string) {
    this.folder = path.resolve(folder);
  }

  get #lost(): string {
    return path.join(this.folder, 'lost');
  }

  async prepare(): Promise<void> {
    await mkdir(this.folder, { recursive: true, mode: 0o700 });
  }

  async newPath({ tenant, id, run, leaseToken }: RunKey): Promise<string> {
    await this.prepare();
    await this.touchAlive();
    const encoded = encodeURIComponent(tenant).replace(/[~.!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16)}`);
    const whose = encoded.length > LONGEST_TENANT ? short(tenant) : encoded;
    const at = path.join(this.folder, `${whose}~${safe(id)}~${run}~${short(leaseToken)}.${OWNER}.wal`);
    open.add(at);
    return at;
  }

  /** Not open any more. */
  release(at: string): void {
    open.delete(at);
  }

  /** Answers the time of the file system: workers on several hosts share it, and their own clocks may differ. */
  async touchAlive(): Promise<number> {
    const at = path.join(this.folder, `${OWNER}.alive`);
    // A write, because `utimes` would set the time of this host.
    await writeFile(at, '1', { mode: 0o600 });
    await hold(this.folder, OWNER);
    return (await stat(at)).mtimeMs;
  }

  /**
   * Takes one file whose owner is gone; answers its new path. Undefined: another process was first, or a file of this worker
   * has that path, which the rename would replace. It is taken when that one has been sent.
   */
  async take(name: string): Promise<string | undefined> {
    const at = path.join(this.folder, `${runPartOf(name)}.${OWNER}.wal`);
    await this.touchAlive();
    const from = path.join(this.folder, name);
    if (open.has(at)) return undefined;
    open.add(at);
    try {
      // Left by this very process, it has the right name already.
      if (from === at) return at;
      if (await exists(at)) {
        open.delete(at);
        return undefined;
      }
      await rename(from, at);
      return at;
    } catch (error) {
      open.delete(at);
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
  }

  /** Names of files whose owners are gone, oldest first by name. Those of this worker are first, see `take`. */
  async orphans(): Promise<string[]> {
    const names = await readdir(this.folder);
    const orphans: string[] = [];
    const owned = new Set<string>();
    let now: Promise<number> | undefined;
    const isSilent = async (owner: string): Promise<boolean> => {
      now ??= this.touchAlive();
      const at = path.join(this.folder, `${owner}.alive`);
      const aliveFile = await stat(at).catch(() => ({ mtimeMs: Number.NEGATIVE_INFINITY }));
      return (await now) - aliveFile.mtimeMs > SILENT_MS;
    };
    for (const name of names.sort()) {
      const owner = parseOwner(OWNED.exec(name)?.[2] ?? '');
      if (!owner) continue;
      owned.add(nameOf(owner));
      if (!(await this.#isAlive(owner, name, isSilent))) orphans.push(name);
    }
    for (const name of names) {
      const owner = name.endsWith('.alive') ? name.slice(0, -'.alive'.length) : LOCK_PATTERN.exec(name)?.[1];
      if (owner === undefined || owner === OWNER || owned.has(owner) || !(await isSilent(owner))) continue;
      // A worker without files writes no sign of life, and its socket must be there for the next file.
      if (!(await isHeld(this.folder, owner))) await rm(path.join(this.folder, name), { force: true });
    }
    const isOwn = (name: string): boolean => name.endsWith(`.${OWNER}.wal`);
    return [...orphans.filter(isOwn), ...orphans.filter((name) => !isOwn(name))];
  }

  async #isAlive(owner: Owner, name: string, isSilent: (owner: string) => Promise<boolean>): Promise<boolean> {
    if (nameOf(owner) === OWNER) return open.has(path.join(this.folder, name));
    // A process of another host or container cannot be looked up.
    if (owner.host === SELF.host) return isRunning(owner);
    return (await isHeld(this.folder, nameOf(owner))) ?? !(await isSilent(nameOf(owner)));
  }

  async remove(at: string): Promise<void> {
    await rm(at, { force: true });
    open.delete(at);
  }

  /** Out of the way, for the operator; bounded by age and size. Answers where it is now. */
  async moveToLost(at: string): Promise<string> {
    await mkdir(this.#lost, { recursive: true, mode: 0o700 });
    const to = path.join(this.#lost, path.basename(at));
    await rename(at, to);
    open.delete(at);
    // Its time in `lost` begins now, and as the newest file it is kept whatever its size.
    const now = new Date();
    await utimes(to, now, now).catch(() => {});
    await this.pruneLost();
    return to;
  }

  async pruneLost(): Promise<void> {
    const names = await readdir(this.#lost).catch(() => []);
    const files = await Promise.all(
      names.map(async (name) => {
        const at = path.join(this.#lost, name);
        const { mtimeMs, size } = await stat(at).catch(() => ({ mtimeMs: 0, size: 0 }));
        return { at, mtimeMs, size };
      }),
    );
    let bytes = 0;
    for (const [index, { at, mtimeMs, size }] of files.sort((a, b) => b.mtimeMs - a.mtimeMs).entries()) {
      bytes += size;
      const isTooMuch = bytes > LOST_BYTES && index > 0;
      if (isTooMuch || Date.now() - mtimeMs > LOST_MS) await rm(at, { force: true }).catch(() => {});
    }
  }
}

const exists = (at: string): Promise<boolean> =>
  stat(at).then(
    () => true,
    () => false,
  );

/** The name of a file without its owner. */
export const runPartOf = (name: string): string => OWNED.exec(name)![1]!;

/** Ids are UUIDs; a foreign one must not leave the folder. */
const safe = (id: string): string => (/^[\w-]{1,64}$/.test(id) ? id : short(id));
