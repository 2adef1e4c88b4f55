import type { LogEvent } from '../events/job-event.ts';
import type { Job, JobError, JobSpec } from '../job/job.ts';
import type { Json, JsonObject } from '../json.ts';
import type { JobKey } from '../store/query.ts';
import type { PayloadUrls } from '../waybill.ts';
import { type Lack, lackError, type Payloads } from './payloads.ts';
import { type BlobReference, isMark, readReference } from './reference.ts';

/** The parts of a spec that a producer can make large. */
const SPEC_PARTS = ['meta', 'options', 'extra'] as const;
/** Fifty errors are kept. When they are too large together, whatever of them is larger than this goes. */
const SMALL_BYTES = 1_024;
/** How long an address of a payload is good. */
const URL_MS = 15 * 60_000;

type References = { [K in keyof PayloadUrls]?: BlobReference };

/** The payloads of whole rows. Everything else of a row is small and stays as it is. */
export class JobPayloads {
  readonly #payloads: Payloads;
  readonly #lacks = new WeakMap<Job, Lack>();
  readonly #references = new WeakMap<Job, References>();

  constructor(payloads: Payloads) {
    this.#payloads = payloads;
  }

  async seal(job: Job): Promise<Job> {
    const [spec, result, errors] = await Promise.all([
      this.#sealSpec(job),
      this.#payloads.seal(job, 'result', job.result),
      this.#sealErrors(job),
    ]);
    return { ...job, spec, result, errors };
  }

  /** The row as its readers shall see it; args and a result over a size stay references. */
  async open(stored: Job, overBytes = Number.POSITIVE_INFINITY): Promise<Job> {
    const lacks: Lack[] = [];
    const open = async <T extends Json>(value: T): Promise<T> => {
      const opened = await this.#payloads.open(stored, value);
      if (opened.lack) lacks.push(opened.lack);
      return opened.value as T;
    };
    const openUnlessLarge: Open = async (value) =>
      bytesIn(value) > overBytes ? this.#payloads.leave(stored, value) : open(value);
    const [spec, result, errors] = await Promise.all([
      openSpec(stored.spec, open, openUnlessLarge),
      openUnlessLarge(stored.result),
      Promise.all(
        stored.errors.map(async (error) => {
          const opened = await openError(error, open);
          if (hasMark(error)) this.#payloads.remember(stored, opened, error);
          return opened;
        }),
      ),
    ]);
    this.#payloads.remember(stored, spec, stored.spec);
    const job = { ...stored, spec, result, errors };
    this.#references.set(job, referencesIn(stored));
    if (lacks[0]) this.#lacks.set(job, lacks[0]);
    return job;
  }

  /** For the engine's own moves, which look at no payload and need not fetch any. */
  leave(stored: Job): Job {
    this.#payloads.leave(stored, stored.result);
    this.#payloads.remember(stored, stored.spec, stored.spec);
    for (const error of stored.errors) if (hasMark(error)) this.#payloads.remember(stored, error, error);
    return stored;
  }

  lackOf(job: Job): Lack | undefined {
    return this.#lacks.get(job);
  }

  /** What `open` would have to fetch for this row; errors are small beside it. */
  bytesOf({ spec, result }: Job, overBytes: number): number {
    const large = [result, argsMark(spec.args)].map(bytesIn).filter((bytes) => bytes <= overBytes);
    const others = SPEC_PARTS.map((part) => bytesIn(spec[part] ?? null));
    return [...large, ...others].reduce((sum, bytes) => sum + bytes, 0);
  }

  /** Where the payloads over a size can be had directly; only of rows as `open` answered them. */
  async urlsOf(job: Job, { overBytes }: { overBytes: number }): Promise<PayloadUrls> {
    const urls: PayloadUrls = {};
    for (const [field, reference] of Object.entries(this.#references.get(job) ?? {})) {
      if (reference.bytes <= overBytes) continue;
      const url = await this.#payloads.urlOf(job, reference, URL_MS);
      if (url !== undefined) urls[field as keyof PayloadUrls] = url;
    }
    return urls;
  }

  async sealEvents(events: readonly LogEvent[]): Promise<LogEvent[]> {
    return Promise.all(
      events.map(async (event) => {
        const owner = ownerOf(event);
        if (owner === null) return event;
        const data = await this.#payloads.seal(owner, 'event', event.data);
        return data === event.data ? event : { ...event, data: data as JsonObject };
      }),
    );
  }

  async openEvent<T extends LogEvent>(event: T): Promise<T> {
    const owner = ownerOf(event);
    if (owner === null) return event;
    const { value } = await this.#payloads.open(owner, event.data);
    return value === event.data ? event : { ...event, data: value as JsonObject };
  }

  /**
   * For receivers outside, who get an event once. A payload that cannot be read now fails, so that the event is sent
   * later; of one that is gone they are told that it is missing. They never see the reference.
   */
  async openSent<T extends LogEvent>(event: T): Promise<T> {
    const owner = ownerOf(event);
    if (owner === null) return event;
    const { value, lack } = await this.#payloads.open(owner, event.data);
    if (lack?.cause !== undefined) throw lackError(owner, lack);
    return { ...event, data: lack ? { payload_missing: true } : (value as JsonObject) };
  }

  async #sealSpec({ spec, ...job }: Job): Promise<JobSpec> {
    const known = this.#payloads.recall<JobSpec>(job, spec);
    if (known) return known;
    const parts = SPEC_PARTS.filter((part) => spec[part] !== undefined);
    const [args, ...sealed] = await Promise.all([
      this.#sealArgs(job, spec.args),
      ...parts.map((part) => this.#payloads.seal(job, part, spec[part]!)),
    ]);
    const changed = Object.fromEntries(parts.map((part, index) => [part, sealed[index]!]));
    return this.#payloads.remember(job, spec, { ...spec, ...changed, args });
  }

  /** Arguments are a list whatever stands for them, so that a row keeps its shape. */
  async #sealArgs(job: JobKey, args: Json[]): Promise<Json[]> {
    const sealed = await this.#payloads.seal(job, 'args', args);
    if (!Array.isArray(sealed)) return [sealed];
    const [only] = args;
    return args.length === 1 ? [await this.#payloads.seal(job, 'args', only!, Number.POSITIVE_INFINITY)] : args;
  }

  async #sealErrors(job: Job): Promise<readonly JobError[]> {
    if (job.errors.length === 0) return job.errors;
    const { threshold } = this.#payloads;
    const isLarge = Buffer.byteLength(JSON.stringify(job.errors)) > threshold;
    const bound = isLarge ? Math.min(SMALL_BYTES, threshold) : Number.POSITIVE_INFINITY;
    return Promise.all(
      job.errors.map(
        async (error) =>
          this.#payloads.recall<JobError>(job, error) ?? {
            ...error,
            message: (await this.#payloads.seal(job, 'message', error.message, bound)) as string,
            ...(error.details !== undefined && {
              details: await this.#payloads.seal(job, 'details', error.details, bound),
            }),
          },
      ),
    );
  }
}

type Open = <T extends Json>(value: T) => Promise<T>;

async function openSpec(stored: JobSpec, open: Open, openUnlessLarge: Open): Promise<JobSpec> {
  const parts = SPEC_PARTS.filter((part) => stored[part] !== undefined);
  const [args, ...opened] = await Promise.all([
    openArgs(stored.args, openUnlessLarge),
    ...parts.map((part) => open(stored[part]!)),
  ]);
  return { ...stored, ...Object.fromEntries(parts.map((part, index) => [part, opened[index]!])), args };
}

const bytesIn = (value: Json): number => readReference(value)?.bytes ?? 0;

const argsMark = (args: readonly Json[]): Json => (args.length === 1 ? args[0]! : null);

async function openArgs(stored: Json[], open: Open): Promise<Json[]> {
  if (stored.length !== 1) return stored;
  const [only] = stored as [Json];
  const opened = await open(only);
  // Of a reference that could not be followed there is only the reference, and it stands in the list.
  return readReference(only) !== null && opened !== only ? (opened as Json[]) : [opened];
}

const openError = async (error: JobError, open: Open): Promise<JobError> => ({
  ...error,
  message: await open(error.message),
  ...(error.details !== undefined && { details: await open(error.details) }),
});

const hasMark = ({ message, details = null }: JobError): boolean => isMark(message) || isMark(details);

/** Only jobs have payloads that may be large. */
const ownerOf = ({ tenant, jobId }: LogEvent): JobKey | null => (jobId === undefined ? null : { tenant, id: jobId });

function referencesIn({ spec, result }: Job): References {
  const [args, whole] = [readReference(argsMark(spec.args)), readReference(result)];
  return { ...(args && { args }), ...(whole && { result: whole }) };
}
