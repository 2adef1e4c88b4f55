import { create, type DescMessage, fromJson, type MessageShape, toJson } from '@bufbuild/protobuf';
import { invalidField, type JournalEntry, type Json, type NewEntry, type Stream } from '@waybill/core';
import {
  HeartbeatSchema,
  type JobEvent,
  JobEventSchema,
  MetricSchema,
  OutputSchema,
  OutputStream,
  ProcessEndedSchema,
  ProcessFailedSchema,
  ProcessStartedSchema,
} from '@waybill/protocol';
import { countOf, jsonOf, msOf, timeOf, toValue } from './values.ts';

type Payload = JobEvent['payload'];
type TypedCase = Exclude<Payload['case'], undefined | 'data' | 'output'>;

/** Kinds with fields of their own: in the journal they are entries of this type whose data has the fields, as JSON. */
const TYPED: Readonly<Record<TypedCase, { type: string; schema: DescMessage }>> = {
  processStarted: { type: 'process.started', schema: ProcessStartedSchema },
  processEnded: { type: 'process.ended', schema: ProcessEndedSchema },
  processFailed: { type: 'process.failed', schema: ProcessFailedSchema },
  heartbeat: { type: 'heartbeat', schema: HeartbeatSchema },
  metric: { type: 'metric', schema: MetricSchema },
};
const CASES = new Map(Object.entries(TYPED).map(([name, { type }]) => [type, name as TypedCase]));
const OUTPUT = 'output';

export const entryToRpc = (entry: JournalEntry): JobEvent => newEntryToRpc(entry);

/** What a worker sends has no run yet, and need not have a time. */
export function newEntryToRpc(entry: NewEntry & { run?: number }): JobEvent {
  const { run = 0, sequence, at, type } = entry;
  return create(JobEventSchema, {
    ...{ run, sequence: BigInt(sequence), type, payload: payloadOf(entry) },
    ...(at !== undefined && { time: timeOf(at) }),
  });
}

export function entryFromRpc(event: JobEvent, field = 'event'): JournalEntry {
  const { at, ...entry } = newEntryFromRpc(event, field);
  if (at === undefined) throw invalidField(`${field}.time`, 'is missing.');
  return { run: event.run, at, ...entry };
}

export function newEntryFromRpc(event: JobEvent, field: string): NewEntry {
  const { sequence, time, payload } = event;
  const content = contentOf(payload, field);
  const type = content.type ?? event.type;
  if (event.type !== '' && event.type !== type)
    throw invalidField(
      `${field}.type`,
      `is '${event.type.slice(0, 100)}', and what it carries is of the type ${type}.`,
    );
  return {
    sequence: countOf(sequence, `${field}.sequence`),
    ...(time && { at: msOf(time, `${field}.time`) }),
    ...content,
    type,
  };
}

function payloadOf({ type, stream, output, data }: NewEntry): Payload {
  if (output !== undefined)
    return { case: OUTPUT, value: create(OutputSchema, { output, stream: stream ? STREAMS[stream] : 0 }) };
  if (data === undefined) return { case: undefined };
  return typedPayload(type, data) ?? { case: 'data', value: toValue(data) };
}

/** Only where nothing of the data gets lost: what has other fields, or is written otherwise, is told as it is. */
function typedPayload(type: string, data: Json): Payload | undefined {
  const name = CASES.get(type);
  if (name === undefined) return undefined;
  const { schema } = TYPED[name];
  try {
    const value = fromJson(schema, data);
    if (isSame(jsonOfTyped(schema, value), data)) return { case: name, value } as Payload;
  } catch {
    // It is something else, under this name.
  }
  return undefined;
}

function contentOf(payload: Payload, field: string): Partial<NewEntry> {
  switch (payload.case) {
    case undefined:
      return {};
    case OUTPUT: {
      const { output, stream } = payload.value;
      return { type: OUTPUT, output, ...streamOf(stream, `${field}.output.stream`) };
    }
    case 'data':
      return { data: jsonOf(payload.value, `${field}.data`) };
    default: {
      const { type, schema } = TYPED[payload.case];
      return { type, data: dataOf(schema, payload.value, `${field}.${type}`) };
    }
  }
}

function dataOf(schema: DescMessage, value: MessageShape<DescMessage>, field: string): Json {
  try {
    return jsonOfTyped(schema, value);
  } catch {
    throw invalidField(field, 'holds a time or a length of time that is none.');
  }
}

const jsonOfTyped = (schema: DescMessage, value: MessageShape<DescMessage>): Json =>
  toJson(schema, value, { useProtoFieldName: true, alwaysEmitImplicit: true }) as Json;

const STREAMS: Readonly<Record<Stream, OutputStream>> = { stdout: OutputStream.STDOUT, stderr: OutputStream.STDERR };

function streamOf(stream: OutputStream, field: string): { stream?: Stream } {
  switch (stream) {
    case OutputStream.UNSPECIFIED:
      return {};
    case OutputStream.STDOUT:
      return { stream: 'stdout' };
    case OutputStream.STDERR:
      return { stream: 'stderr' };
    default:
      throw invalidField(field, `must be stdout or stderr, not ${Number(stream)}.`);
  }
}

/** The order of fields does not matter; there are few of them, and none has parts. */
function isSame(one: Json, other: Json): boolean {
  const [a, b] = [one, other].map((json) => JSON.stringify(Object.entries(json as object).sort()));
  return a === b;
}
