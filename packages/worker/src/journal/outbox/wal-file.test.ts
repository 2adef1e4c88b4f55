import {
  type FileHandle,
  mkdtemp,
  open,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  truncate,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Batch } from '../delivery.ts';
import { WalFile } from './wal-file.ts';

const HEADER = { version: 1, tenant: '', id: 'job', run: 1, leaseToken: '1.claim' } as const;

async function place(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'waybill-wal-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return path.join(folder, 'one.wal');
}

const batch = (first: number, count: number, critical: number[] = []): Batch => ({
  entries: Array.from({ length: count }, (_, index) => ({
    sequence: first + index,
    at: 5,
    type: 'step',
    data: first + index,
  })),
  critical,
});

const sequences = (one: Batch | null) => one?.entries.map(({ sequence }) => sequence);

async function written(...batches: Batch[]): Promise<string> {
  const at = await place();
  const wal = await WalFile.create(at, HEADER);
  for (const one of batches) await wal.append(one);
  await wal.close();
  return at;
}

async function recovered(at: string): Promise<WalFile> {
  const wal = await WalFile.recover(at);
  onTestFinished(() => wal?.close());
  return wal!;
}

describe('the file of an outbox', () => {
  it('gives back what was written, with any bytes, until it is acknowledged', async () => {
    const at = await place();
    const wal = await WalFile.create(at, HEADER);
    const odd: Batch = {
      entries: [{ sequence: 3, at: 7, type: 'output', stream: 'stderr', output: Uint8Array.of(0xff, 0, 10) }],
      critical: [],
    };
    await wal.append(batch(1, 2, [2]));
    await wal.append(odd);
    expect(wal.unsent).toEqual({ entries: 3, critical: 1 });
    expect(await wal.next()).toEqual(batch(1, 2, [2]));
    expect(await wal.next()).toEqual(batch(1, 2, [2]));
    await wal.ack(batch(1, 2, [2]));
    expect(await wal.next()).toEqual(odd);
    await wal.ack(odd);
    expect([await wal.next(), wal.unsent]).toEqual([null, { entries: 0, critical: 0 }]);
    await wal.close();
    expect((await stat(at)).mode & 0o777).toBe(0o600);
  });

  it('after a crash goes on behind what was acknowledged', async () => {
    const at = await written(batch(1, 2), batch(3, 2), batch(5, 1, [5]));
    const first = await recovered(at);
    await first.next();
    await first.ack(batch(1, 2));
    const second = await recovered(at);
    expect([second.header, second.unsent, second.tornBytes]).toEqual([HEADER, { entries: 3, critical: 1 }, 0]);
    expect(sequences(await second.next())).toEqual([3, 4]);
  });

  it('a torn tail of any length is cut off, and what stands before it is kept', async () => {
    const at = await written(batch(1, 2));
    const whole = (await stat(at)).size;
    const more = await recovered(at);
    await more.append(batch(3, 2));
    const { size } = await stat(at);
    const bytes = await readFile(at);
    for (let end = whole; end < size; end += 1) {
      await writeFile(at, bytes.subarray(0, end));
      const wal = await WalFile.recover(at);
      expect([wal!.unsent.entries, wal!.tornBytes]).toEqual([2, end - whole]);
      await wal!.close();
      expect((await stat(at)).size).toBe(whole);
    }
  });

  it('what does not have its CRC is not sent: a flipped bit, or a page of zeros', async () => {
    const at = await written(batch(1, 2), batch(3, 2));
    const bytes = await readFile(at);
    bytes[bytes.length - 1]! ^= 0x04;
    await writeFile(at, bytes);
    const flipped = await recovered(at);
    expect(flipped.unsent.entries).toBe(2);
    await flipped.append(batch(3, 1));
    const { size } = await stat(at);
    await truncate(at, size + 4_096);
    const zeros = await recovered(at);
    expect([zeros.unsent.entries, zeros.tornBytes]).toEqual([3, 4_096]);
  });

  it('without a whole header belongs to no run', async () => {
    const at = await place();
    await writeFile(at, Buffer.of(1, 0));
    expect(await WalFile.recover(at)).toBeUndefined();
  });

  // fault: the disk is full after half of a record was written
  it('a batch that the disk does not take leaves nothing behind, and the next one may find room', async () => {
    const at = await place();
    let isFull = false;
    const filling = async (...given: Parameters<typeof open>): Promise<FileHandle> => {
      const file = await open(...given);
      const write = file.write.bind(file) as (...args: unknown[]) => Promise<{ bytesWritten: number }>;
      file.write = (async (bytes: Buffer, from: number, length: number, to: number) => {
        if (!isFull) return write(bytes, from, length, to);
        if (length < 20) throw Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
        return write(bytes, from, 20, to);
      }) as never;
      return file;
    };
    const wal = await WalFile.create(at, HEADER, filling as typeof open);
    await wal.append(batch(1, 2));
    isFull = true;
    const refused = wal.append(batch(3, 2));
    // Records are longer than 20 bytes: the second part of this one is what does not fit.
    await expect(refused).rejects.toMatchObject({
      name: 'NotKept',
      message: expect.stringContaining('the disk is full'),
    });
    isFull = false;
    await wal.append(batch(3, 1));
    await wal.close();
    const after = await recovered(at);
    expect([after.unsent.entries, after.tornBytes]).toEqual([3, 0]);
  });

  // fault: the disk has room for one batch
  it('trap: on a full disk acknowledged batches make room for the next one', async () => {
    const at = await place();
    const small = async (...given: Parameters<typeof open>): Promise<FileHandle> => {
      const file = await open(...given);
      const write = file.write.bind(file) as (...args: unknown[]) => Promise<{ bytesWritten: number }>;
      file.write = (async (bytes: Buffer, from: number, length: number, to: number) => {
        if (to + length > 400) throw Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
        return write(bytes, from, length, to);
      }) as never;
      return file;
    };
    const wal = await WalFile.create(at, HEADER, small as typeof open);
    onTestFinished(() => wal.close());
    const one = (sequence: number): Batch => ({
      entries: [{ sequence, at: 5, type: 'step', data: 'x'.repeat(150) }],
      critical: [],
    });
    for (const sequence of [1, 2, 3]) {
      await wal.append(one(sequence));
      await expect(wal.append(one(sequence + 1))).rejects.toThrow('the disk is full');
      expect(sequences(await wal.next())).toEqual([sequence]);
      await wal.ack(one(sequence)).catch(() => {});
    }
    expect([await wal.next(), wal.unsent.entries]).toEqual([null, 0]);
  });

  it('starts over when all of a large one is acknowledged', async () => {
    const at = await place();
    const wal = await WalFile.create(at, HEADER);
    const large: Batch = {
      entries: [{ sequence: 1, at: 1, type: 'output', output: new Uint8Array(5 * 1_024 * 1_024) }],
      critical: [],
    };
    await wal.append(large);
    await wal.next();
    await wal.ack(large);
    expect((await stat(at)).size).toBeLessThan(1_000);
    await wal.append(batch(2, 1));
    expect(sequences(await wal.next())).toEqual([2]);
    await wal.close();
  });

  // fault: another process takes this one for dead, sends what it finds in the file, and removes it
  it('trap: a batch is durable in a file that has its name, also after another process took the file', async () => {
    const at = await place();
    const wal = await WalFile.create(at, HEADER);
    onTestFinished(() => wal.close());
    await wal.append(batch(1, 2));
    await wal.append(batch(3, 1, [3]));
    await wal.next();
    await wal.ack(batch(1, 2));
    expect(await wal.next()).toEqual(batch(3, 1, [3]));
    const taken = `${at}.taken`;
    await rename(at, taken);
    const other = await recovered(taken);
    await other.next();
    await other.ack(batch(3, 1, [3]));
    await rm(taken);
    await wal.append(batch(4, 1, [4]));
    expect(wal.unsent).toEqual({ entries: 2, critical: 2 });
    const crashed = await recovered(at);
    expect([crashed.header, crashed.unsent]).toEqual([HEADER, { entries: 2, critical: 2 }]);
    await wal.ack(batch(3, 1, [3]));
    expect(await wal.next()).toEqual(batch(4, 1, [4]));
    await wal.ack(batch(4, 1, [4]));
    expect([await wal.next(), wal.unsent]).toEqual([null, { entries: 0, critical: 0 }]);
    expect(await readdir(path.dirname(at))).toEqual([path.basename(at)]);
  });

  it('after another process has sent and emptied it goes on with what comes next', async () => {
    const at = await place();
    const wal = await WalFile.create(at, HEADER);
    onTestFinished(() => wal.close());
    await wal.append(batch(1, 2));
    await wal.append(batch(3, 1));
    expect(sequences(await wal.next())).toEqual([1, 2]);
    await truncate(at, 0);
    await rm(at);
    await wal.append(batch(4, 1));
    await wal.ack(batch(1, 2));
    expect([wal.unsent, sequences(await wal.next())]).toEqual([{ entries: 1, critical: 0 }, [4]]);
  });
});
