import { promisify } from 'node:util';
import { constants, deflateRaw, inflateRaw } from 'node:zlib';
import type { Json } from '../json.ts';
import type { JournalEntry, Stream } from './entry.ts';
import { ByteReader, ByteWriter } from './varint.ts';

const deflated = promisify(deflateRaw);
const inflated = promisify(inflateRaw);

/** The first byte of a body: how the rest is written. */
const RAW = 0;
const DEFLATED = 1;

/** What an entry carries. */
const NOTHING = 0;
const DATA = 1;
const OUTPUT = 2;
const STDOUT = 3;
const STDERR = 4;

/** Smaller bodies gain little, and it costs more than writing them. */
const COMPRESS_FROM = 1_024;
/** A body that does not become smaller by at least this part stays as it is. */
const WORTH = 1 / 8;
/** What a body may grow to when it is read: bytes of a client may be made to grow without an end. */
const LARGEST = 64 * 1_024 * 1_024;

type Entry = Omit<JournalEntry, 'run'>;

/** The names of types once, then each entry by its difference to the one before. Any bytes come back as they were. */
export function pack(entries: readonly Entry[]): Uint8Array {
  const writer = new ByteWriter();
  writer.byte(RAW);
  const types = [...new Set(entries.map(({ type }) => type))];
  writer.number(types.length);
  for (const type of types) writer.text(type);
  const numbers = new Map(types.map((type, index) => [type, index]));
  let [sequence, at] = [0, 0];
  for (const entry of entries) {
    writer.number(entry.sequence - sequence);
    writer.signed(entry.at - at);
    ({ sequence, at } = entry);
    writer.number(numbers.get(entry.type)!);
    const kind = kindOf(entry);
    writer.byte(kind);
    if (kind === DATA) writer.text(JSON.stringify(entry.data));
    else if (kind !== NOTHING) writer.bytes(entry.output!);
  }
  return writer.done();
}

export function unpack(body: Uint8Array, run: number): JournalEntry[] {
  const reader = new ByteReader(body);
  if (reader.byte() !== RAW) throw new RangeError('The body of a batch is of an unknown kind.');
  const types = Array.from({ length: reader.number() }, () => reader.text());
  const entries: JournalEntry[] = [];
  let [sequence, at] = [0, 0];
  while (!reader.isOver) {
    sequence += reader.number();
    at += reader.signed();
    const type = types[reader.number()];
    if (type === undefined) throw new RangeError('An entry has no type.');
    entries.push({ run, sequence, at, type, ...contentOf(reader, reader.byte()) });
  }
  return entries;
}

/** Made smaller where that pays, off the thread. */
export async function compressed(body: Uint8Array): Promise<Uint8Array> {
  if (body.length < COMPRESS_FROM) return body;
  const small = await deflated(body.subarray(1), { level: constants.Z_BEST_SPEED });
  if (small.length > body.length * (1 - WORTH)) return body;
  return Buffer.concat([Buffer.of(DEFLATED), small]);
}

export async function opened(body: Uint8Array): Promise<Uint8Array> {
  if (body[0] !== DEFLATED) return body;
  return Buffer.concat([Buffer.of(RAW), await inflated(body.subarray(1), { maxOutputLength: LARGEST })]);
}

function kindOf({ output, stream, data }: Entry): number {
  if (output !== undefined) return stream === undefined ? OUTPUT : stream === 'stdout' ? STDOUT : STDERR;
  return data === undefined ? NOTHING : DATA;
}

const STREAM_OF: Readonly<Record<number, Stream>> = { [STDOUT]: 'stdout', [STDERR]: 'stderr' };

function contentOf(reader: ByteReader, kind: number): Pick<JournalEntry, 'output' | 'stream' | 'data'> {
  if (kind === NOTHING) return {};
  if (kind === DATA) return { data: JSON.parse(reader.text()) as Json };
  if (kind > STDERR) throw new RangeError('An entry has content of an unknown kind.');
  const stream = STREAM_OF[kind];
  return { ...(stream && { stream }), output: reader.bytes() };
}
