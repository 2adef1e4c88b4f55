import {
  checkJson,
  isObject,
  type Job,
  type Json,
  type JsonObject,
  type LeaseRevision,
  type Spending,
  WaybillError,
} from '@waybill/core';
import type { Answer, AskOptions, TaskContext } from '../../context.ts';
import type { EmitOptions, LogOptions, OutputOptions } from '../../journal/pending-entry.ts';
import { emitted, levelOf, printed } from '../../journal/pending-entry.ts';
import { toJson } from '../../jsonified.ts';
import { parentsByName } from '../../parents.ts';
import type { RunFiles } from '../../run-files.ts';
import type { ChildEnd, RunFacts } from '../channel.ts';
import { ChildFiles } from './child-files.ts';
import { enqueueFromChild } from './enqueue-from-child.ts';
import type { ParentLink } from './parent-link.ts';

/** Thrown to leave the handler from any depth, as in the worker's own process. */
export class ChildEnding {
  readonly end: ChildEnd;
  constructor(end: ChildEnd) {
    this.end = end;
  }
}

/** What a handler sees of its run in the process of its own: the same as in the worker, by way of the channel. */
export class ChildContext implements TaskContext {
  readonly job: Job;
  readonly attempt: number;
  readonly maxAttempts: number;
  readonly workerId: string;
  readonly parentResults: readonly Json[];
  readonly revision: LeaseRevision | null;
  readonly lastCheckpoint: JsonObject | null;
  /** What the handler asked for. Kept here, since a `catch` on the way may swallow it. */
  asked: ChildEnd | undefined;
  readonly files: RunFiles;
  readonly #aborting = new AbortController();
  readonly #link: ParentLink;

  constructor(facts: RunFacts, link: ParentLink) {
    this.job = facts.job as unknown as Job;
    this.attempt = facts.attempt;
    this.maxAttempts = facts.maxAttempts;
    this.workerId = facts.workerId;
    this.parentResults = facts.parentResults;
    this.revision = facts.revision;
    this.lastCheckpoint = facts.lastCheckpoint;
    this.#link = link;
    this.files = new ChildFiles(link);
  }

  get signal(): AbortSignal {
    return this.#aborting.signal;
  }

  abort(code: string, message: string): void {
    this.#aborting.abort(new WaybillError(code as WaybillError['code'], message));
  }

  progress = (fraction: number, detail?: string | JsonObject): void => {
    const told = detail === undefined ? {} : { detail: typeof detail === 'string' ? detail : plain(detail) };
    this.#link.note('progress', { fraction: Number(fraction) || 0, ...told });
  };

  checkpoint = (state: JsonObject): void => {
    this.#link.note('checkpoint', { state: plain(state) });
  };

  emit = async (name: string, data?: unknown, options: EmitOptions = {}): Promise<void> => {
    const { isCritical, entry } = emitted(name, data, options, 0);
    const stored = this.#link.call('emit', { name, ...(entry.data !== undefined && { data: entry.data }), options });
    if (isCritical) await stored;
    // A mistake was thrown above; that an entry of best effort is missing, the worker counts.
    else stored.catch(() => {});
  };

  output = (data: string | Uint8Array, options: OutputOptions = {}): void => {
    for (const { entry } of printed(data, options, 0)) {
      const bytes = Buffer.from(entry.output!).toString('base64');
      this.#link.note('output', { bytes, options });
    }
  };

  spend = (
    amounts: Readonly<Record<string, number>>,
    { key }: { key?: string | undefined } = {},
  ): Promise<Spending> => {
    const spent = this.#link.call('spend', { amounts, ...(key !== undefined && { key }) });
    // Nobody need wait for it, and the process must not end then.
    spent.catch(() => {});
    return spent;
  };

  log = (message: string, fields: object = {}, options: LogOptions = {}): void => {
    levelOf(options);
    const answer = toJson(fields);
    const told = answer.ok && isObject(answer.value) ? answer.value : {};
    this.#link.note('log', { message: String(message), fields: told, options });
  };

  get parents(): Readonly<Record<string, Json>> {
    return parentsByName(this.job, this.parentResults);
  }

  get enqueue(): TaskContext['enqueue'] {
    return async (task, ...[input, options]) =>
      this.#link.call('enqueue', await enqueueFromChild(task, input, options));
  }

  complete = (): never => {
    const message =
      'context.complete() needs the connection of its transaction, which an isolated process does not share.';
    throw new WaybillError('unsupported', message, { hint: 'Return the result, or run the task in the worker.' });
  };

  snooze = (until: number | Date): never => {
    const moment = until instanceof Date ? until.getTime() : until;
    if (!Number.isFinite(moment)) throw new TypeError('snooze() takes milliseconds or a Date.');
    return this.#end({ kind: 'snooze', ...(until instanceof Date ? { until: moment } : { ms: moment }) });
  };

  discard = (reason: string): never => this.#end({ kind: 'discard', reason: String(reason) });

  cancel = (reason: string): never => this.#end({ kind: 'cancel', reason: String(reason) });

  ask = (question: AskOptions): Promise<Answer> => {
    const answer = this.#ask(question);
    // The handler need not await it; what ends the run must not end the process as a failure.
    answer.catch(() => {});
    return answer;
  };

  async #ask(question: AskOptions): Promise<Answer> {
    return (await this.#link.call('ask', question)) ?? this.#end({ kind: 'waiting' });
  }

  #end(end: ChildEnd): never {
    this.asked ??= end;
    throw new ChildEnding(end);
  }
}

/** A copy as JSON would carry it. */
function plain(value: JsonObject): JsonObject {
  const copy: unknown = JSON.parse(JSON.stringify(value) ?? 'null');
  if (!isObject(copy)) throw new TypeError('progress() and checkpoint() take an object.');
  checkJson(copy);
  return copy;
}
