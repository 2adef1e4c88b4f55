import { type Attributes, context, SpanKind } from '@opentelemetry/api';
import { type AppendCall, type Appended, isObject, type Jobs } from '@waybill/core';
import type { Instruments } from '../metrics/instruments.ts';
import { messaging } from '../trace/attributes.ts';
import { nowMs } from '../trace/span-time.ts';
import { errorType, isUnsampled, type Spans } from '../trace/spans.ts';
import { Replay } from './replay.ts';

interface JournalParts {
  spans: Spans;
  instruments: Instruments;
  run: Spans['within'];
  /** With a server in between, which counts what it stores itself. */
  isRemote: boolean;
}

/** What runs say, with a span and counts for each batch, and what followers read before they are live. */
export function observedJournal(
  jobs: Jobs,
  { spans, instruments, run, isRemote }: JournalParts,
): Partial<Pick<Jobs, 'append' | 'follow'>> {
  // A port of an earlier version has no journal, and the worker says so itself.
  if (typeof jobs.append !== 'function') return {};

  const published = (call: AppendCall): Promise<Appended> => {
    if (!spans.isOn || isUnsampled(context.active())) return jobs.append(call);
    return run(
      { name: 'publish', kind: SpanKind.PRODUCER, attributes: ofBatch(call) },
      () => jobs.append(call),
      (answer) => ({ attributes: ofAnswer(answer) }),
    );
  };

  const tellEnd = (success: boolean, startMs: number, labels: Attributes): void => {
    instruments.tell('published', 1, { ...labels, success });
    instruments.tell('publishDuration', (nowMs() - startMs) / 1_000, labels);
  };

  const append: Jobs['append'] = (call) => {
    const startMs = nowMs();
    const labels = instruments.ofTenant(tenantOf(call));
    return published(call).then(
      (answer) => {
        if (isRemote) return answer;
        tellEnd(true, startMs, labels);
        if (answer.stored > 0) instruments.tell('persisted', answer.stored, labels);
        if (answer.cut > 0) instruments.tell('dropped', answer.cut, { ...labels, reason: 'cut' });
        return answer;
      },
      (error: unknown) => {
        const error_type = failureOf(error);
        if (!isRemote) tellEnd(false, startMs, labels);
        // What a server refuses it counts itself; that it cannot be reached only its callers know.
        if (!isRemote || error_type === NOT_PERSISTED) instruments.tell('publishErrors', 1, { ...labels, error_type });
        throw error;
      },
    );
  };
  if (isRemote) return { append };

  return {
    append,
    follow: (id, query = {}) => {
      const replay = new Replay(instruments, instruments.ofTenant(tenantOf(query)));
      const onLive = () => {
        replay.end();
        query.onLive?.();
      };
      return replay.through(jobs.follow(id, { ...query, onLive }), query.signal);
    },
  };
}

/** As seed 002 calls it. */
const NOT_PERSISTED = 'persistence_failed';

/** Codes that tell of a store or a server that could not keep the entries, whatever they were. */
const FAILURES: ReadonlySet<string> = new Set(['unavailable', 'timeout', 'internal', 'resource_exhausted']);

/** By code where the call was at fault. An error outside of the catalogue is one of the store. */
function failureOf(error: unknown): string {
  const type = errorType(error);
  const isOurs = error instanceof Error && error.name === 'WaybillError';
  return !isOurs || FAILURES.has(type) ? NOT_PERSISTED : type;
}

const tenantOf = (call: { tenant?: string } | undefined): string =>
  typeof call?.tenant === 'string' ? call.tenant : '';

const PUBLISH = messaging('send', 'publish');

/** Where the call was not checked yet. */
function ofBatch(call: AppendCall | undefined): Attributes {
  const entries: readonly unknown[] = Array.isArray(call?.entries) ? call.entries : [];
  return {
    ...PUBLISH,
    'waybill.job.id': call?.id,
    'messaging.batch.message_count': entries.length,
    'waybill.bytes': entries.reduce<number>((sum, entry) => sum + sizeOf(entry), 0),
  };
}

const ofAnswer = ({ run, stored, cut }: Appended): Attributes => ({
  'waybill.job.run': run,
  'waybill.count': stored,
  ...(cut > 0 && { 'waybill.cut': cut }),
});

/** Of what was said, without what a store adds to it. */
function sizeOf(entry: unknown): number {
  if (!isObject(entry)) return 0;
  const { output, data } = entry;
  if (output instanceof Uint8Array) return output.length;
  try {
    return data === undefined ? 0 : Buffer.byteLength(JSON.stringify(data) ?? '');
  } catch {
    // No JSON: the engine refuses it.
    return 0;
  }
}
