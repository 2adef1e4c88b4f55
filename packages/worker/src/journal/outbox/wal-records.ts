import { crc32 } from 'node:zlib';
import { type JournalEntry, packEntries, unpackEntries } from '@waybill/core';
import type { Batch } from '../delivery.ts';

/** Whose entries a file has. */
export interface WalHeader {
  version: 1;
  tenant: string;
  id: string;
  run: number;
  leaseToken: string;
}

export type WalRecord =
  | { kind: 'header'; header: WalHeader }
  | { kind: 'batch'; batch: Batch }
  /** Everything up to this sequence was answered for. */
  | { kind: 'ack'; last: number };

const HEADER = 0;
const BATCH = 1;
const ACK = 2;

/** Length and CRC32 of what follows. */
export const PREFIX_BYTES = 8;
/** Far above a batch: a longer one is not ours, and is not read into memory. */
export const LARGEST_RECORD = 256 * 1_024 * 1_024;

/** The types of Node stay out of what this file exports, because projects without them compile it, too. */
const bufferOf = ({ buffer, byteOffset, byteLength }: Uint8Array): Buffer =>
  Buffer.from(buffer, byteOffset, byteLength);

export function encodeRecord(record: WalRecord): Uint8Array {
  const payload = payloadOf(record);
  const whole = Buffer.allocUnsafe(PREFIX_BYTES + payload.length);
  whole.writeUInt32LE(payload.length, 0);
  whole.writeUInt32LE(crc32(payload), 4);
  payload.copy(whole, PREFIX_BYTES);
  return whole;
}

export const lengthOf = (prefix: Uint8Array): number => bufferOf(prefix).readUInt32LE(0);

/** Undefined where the bytes are not those that were written: a crash may leave a part of a record, or a page of zeros. */
export function decodeRecord(head: Uint8Array, body: Uint8Array): WalRecord | undefined {
  const [prefix, payload] = [bufferOf(head), bufferOf(body)];
  if (payload.length === 0 || payload.length !== lengthOf(prefix)) return undefined;
  if (crc32(payload) !== prefix.readUInt32LE(4)) return undefined;
  switch (payload[0]) {
    case HEADER:
      return { kind: 'header', header: JSON.parse(payload.toString('utf8', 1)) as WalHeader };
    case BATCH:
      return { kind: 'batch', batch: batchIn(payload) };
    case ACK:
      return { kind: 'ack', last: payload.readDoubleLE(1) };
    default:
      return undefined;
  }
}

function payloadOf(record: WalRecord): Buffer {
  if (record.kind === 'header') return Buffer.concat([Buffer.of(HEADER), Buffer.from(JSON.stringify(record.header))]);
  if (record.kind === 'ack') {
    const payload = Buffer.alloc(9);
    payload[0] = ACK;
    payload.writeDoubleLE(record.last, 1);
    return payload;
  }
  const { entries, critical } = record.batch;
  const head = Buffer.alloc(3 + 2 * critical.length);
  head[0] = BATCH;
  head.writeUInt16LE(critical.length, 1);
  const first = entries[0]!.sequence;
  for (const [index, sequence] of critical.entries()) head.writeUInt16LE(sequence - first, 3 + 2 * index);
  return Buffer.concat([head, packEntries(entries as readonly JournalEntry[])]);
}

function batchIn(payload: Buffer): Batch {
  const count = payload.readUInt16LE(1);
  const body = payload.subarray(3 + 2 * count);
  const entries = unpackEntries(body, 0).map(({ run: _, ...entry }) => entry);
  const first = entries[0]!.sequence;
  return {
    entries,
    critical: Array.from({ length: count }, (_, index) => first + payload.readUInt16LE(3 + 2 * index)),
  };
}
