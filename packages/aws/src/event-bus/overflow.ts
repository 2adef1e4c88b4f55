import type { BlobStore, Json, JsonObject } from '@waybill/core';
import type { BusEvent } from './envelope.ts';

/** An event that is larger is split. EventBridge takes 256 KB for an event with all that is sent beside it. */
export const LARGEST_EVENT = 200 * 1024;

/** Names where the moved properties are. */
export const OVERFLOW = '_s3Overflow';
/** Names properties that are nowhere, because there is no blob store. */
export const OMITTED = '_omitted';

/** By these an event is found, so they stay. */
const KEPT: ReadonlySet<string> = new Set(['requestId', 'jobId', 'rowId', 'run', 'iteration', OVERFLOW, OMITTED]);

export interface OverflowBlobs {
  store: BlobStore;
  /** Of the store, so that readers of other programs find it. @defaultValue none */
  bucket?: string;
}

export const sizeOfEvent = (event: BusEvent): number => Buffer.byteLength(JSON.stringify(event));

/**
 * The event as it can be sent. The largest properties of one that is too large go to the blob store, whatever their names
 * are. The blob is written first, and under the same key for each try. Without a blob store they are left out, and the event
 * says so: the row has them.
 */
export async function deflated(event: BusEvent, blobs: OverflowBlobs | undefined): Promise<BusEvent> {
  const size = sizeOfEvent(event);
  if (size <= LARGEST_EVENT) return event;
  const { kept, moved } = split(event.properties, size - LARGEST_EVENT);
  if (!blobs) return { ...event, properties: { ...kept, [OMITTED]: Object.keys(moved) } };
  const key = keyOf(event);
  await blobs.store.put(key, Buffer.from(JSON.stringify(moved)));
  const place = { ...(blobs.bucket !== undefined && { bucket: blobs.bucket }), key };
  return { ...event, properties: { ...kept, [OVERFLOW]: place } };
}

/**
 * The event as it was before. Where the blob is gone, the event stays as it is, so that its reader sees what is missing.
 * Fails where the blob cannot be read now.
 */
export async function inflated(event: BusEvent, blobs: Pick<BlobStore, 'get'>): Promise<BusEvent> {
  const { [OVERFLOW]: place, ...kept } = event.properties;
  const key = (place as JsonObject | undefined)?.['key'];
  if (typeof key !== 'string' || key !== keyOf(event)) return event;
  const body = await blobs.get(key);
  if (body === null) return event;
  const moved = JSON.parse(new TextDecoder().decode(body)) as JsonObject;
  return { ...event, properties: { ...kept, ...moved } };
}

/** The nameless tenant leaves no mark, as with the blobs of jobs. An event never leads to the blob of another one. */
function keyOf({ tenantId, eventId, properties: { requestId, jobId } }: BusEvent): string {
  const folder = encodeURIComponent(requestId ?? jobId ?? 'job');
  const whose = tenantId === '' ? '' : `.${Buffer.from(tenantId).toString('hex')}`;
  return `events/${folder}${whose}/${encodeURIComponent(eventId)}-payload.json`;
}

/** Takes the largest out until it fits; the place where they are needs some room itself. */
function split(properties: JsonObject, excess: number): { kept: JsonObject; moved: JsonObject } {
  const kept: JsonObject = { ...properties };
  const moved: JsonObject = {};
  const bySize = Object.entries(properties)
    .filter(([name]) => !KEPT.has(name))
    .map(([name, value]) => ({ name, value, bytes: bytesOf(value) }))
    .sort((a, b) => b.bytes - a.bytes);
  let left = excess + ROOM;
  for (const { name, value, bytes } of bySize) {
    if (left <= 0) break;
    delete kept[name];
    moved[name] = value;
    left -= bytes;
  }
  return { kept, moved };
}

const ROOM = 2_048;
const bytesOf = (value: Json): number => Buffer.byteLength(JSON.stringify(value));
