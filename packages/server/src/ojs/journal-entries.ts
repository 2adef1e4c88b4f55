import { NEW_ENTRY_NAMES, outputFromWire } from '@waybill/client';
import {
  type AppendCall,
  Fields,
  invalidField,
  LONGEST_TYPE,
  MOST_ENTRIES,
  type NewEntry,
  STREAMS,
} from '@waybill/core';
import { readMoment } from '../http/moment.ts';
import { leaseTokenOf, workerIdOf } from './fields.ts';

const BODY_NAMES = ['entries', 'lease_token', 'worker_id'];
const NAMES = Object.keys(NEW_ENTRY_NAMES);

/** What a worker sends, as the engine takes it. What is wrong is named as it was sent. */
export function readAppend(id: string, body: Fields, requireLease: boolean): AppendCall {
  body.refuseUnknown(BODY_NAMES);
  const sent = body.array('entries', { max: MOST_ENTRIES });
  if (sent === undefined) throw invalidField('entries', 'is required.');
  const entries = sent.map((entry, index) => readEntry(new Fields(entry, `entries[${index}]`)));
  return { id, entries, ...leaseTokenOf(body, requireLease), ...workerIdOf(body) };
}

function readEntry(entry: Fields): NewEntry {
  entry.refuseUnknown(NAMES);
  const sequence = entry.integer('sequence', { min: 0, max: Number.MAX_SAFE_INTEGER });
  if (sequence === undefined) throw invalidField(entry.name('sequence'), 'is required.');
  const at = readMoment(entry.name('time'), entry.string('time'));
  if (at !== undefined && at < 0) throw invalidField(entry.name('time'), 'must not be before 1970.');
  const stream = entry.oneOf('stream', STREAMS);
  const output = readOutput(entry);
  const data = entry.isNull('data') ? null : entry.value('data');
  return {
    ...{ sequence, type: entry.requiredString('type', { max: LONGEST_TYPE }) },
    ...(at !== undefined && { at }),
    ...(stream && { stream }),
    ...(output && { output }),
    ...(data !== undefined && { data }),
  };
}

function readOutput(entry: Fields): Uint8Array | undefined {
  const output = entry.string('output', { max: Number.POSITIVE_INFINITY });
  const encoded = entry.string('output_base64', { max: Number.POSITIVE_INFINITY });
  if (output !== undefined && encoded !== undefined)
    throw invalidField(entry.name('output_base64'), "contradicts 'output': send one of them.");
  // UTF-8 cannot say half of a character, so something else would be stored than was sent.
  if (output?.isWellFormed() === false)
    throw invalidField(entry.name('output'), "has half of a character. Send the bytes as 'output_base64'.");
  try {
    return outputFromWire({
      ...(output !== undefined && { output }),
      ...(encoded !== undefined && { output_base64: encoded }),
    });
  } catch {
    throw invalidField(entry.name('output_base64'), 'must be base64.');
  }
}
