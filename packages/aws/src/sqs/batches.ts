import { GroupCommit, WaybillError } from '@waybill/core';
import { noAnswer } from '../silence.ts';
import type { Base } from './base.ts';
import { isMissing, isRefusal, isWorthless } from './failures.ts';
import type { SendMessageBatchRequestEntry } from './sdk.ts';
import { LONGEST_VISIBILITY_S, PER_REQUEST } from './settings.ts';

/** Requests of one kind and queue that may be under way at once. */
const PARALLEL = 8;
const NO_QUEUE = 'NonExistentQueue';

type Entry = { Id: string };
interface BatchAnswer {
  Failed?:
    | {
        Id?: string | undefined;
        Code?: string | undefined;
        Message?: string | undefined;
        SenderFault?: boolean | undefined;
      }[]
    | undefined;
}
type Failure = { code: string | undefined; message: string; isOurs: boolean } | null;
export type NewMessage = Omit<SendMessageBatchRequestEntry, 'Id'>;

/** Calls of one kind to one queue, coalesced: ten to a request, alone at once when nothing else is under way. */
class Batcher<T> {
  readonly #commit: GroupCommit<T, Failure>;

  constructor(request: (entries: (T & Entry)[]) => Promise<BatchAnswer>) {
    this.#commit = new GroupCommit<T, Failure>({
      maxItems: PER_REQUEST,
      parallel: PARALLEL,
      flush: (items) =>
        request(items.map((item, index) => ({ ...item, Id: String(index) }))).then(
          ({ Failed = [] }) => answersOf(items.length, Failed),
          (error: unknown) => answersToError(items.length, error),
        ),
    });
  }

  run(item: T): Promise<Failure> {
    return this.#commit.run(item);
  }

  idle(): Promise<void> {
    return this.#commit.idle();
  }
}

function answersOf(count: number, failed: NonNullable<BatchAnswer['Failed']>): Failure[] {
  const byId = new Map(failed.map((one) => [one.Id, one]));
  return Array.from({ length: count }, (_, index) => {
    const one = byId.get(String(index));
    if (!one) return null;
    return { code: one.Code, message: one.Message ?? one.Code ?? 'unknown', isOurs: one.SenderFault ?? false };
  });
}

/** A queue that is gone is an answer. What SQS refuses is sought by halving the batch; all else may pass. */
function answersToError(count: number, error: unknown): Failure[] {
  if (isMissing(error))
    return Array.from({ length: count }, () => ({ code: NO_QUEUE, message: 'the queue is gone', isOurs: false }));
  if (isRefusal(error)) throw error;
  throw error instanceof WaybillError ? error : noAnswer('SQS', error);
}

/** Everything that is said about single messages of one SQS queue. */
export class QueueCalls {
  readonly #send: Batcher<NewMessage>;
  readonly #remove: Batcher<{ ReceiptHandle: string }>;
  readonly #hide: Batcher<{ ReceiptHandle: string; VisibilityTimeout: number }>;

  constructor({ client, sdk }: Base, QueueUrl: string) {
    this.#send = new Batcher((Entries) => client.send(new sdk.SendMessageBatchCommand({ QueueUrl, Entries })));
    this.#remove = new Batcher((Entries) => client.send(new sdk.DeleteMessageBatchCommand({ QueueUrl, Entries })));
    this.#hide = new Batcher((Entries) =>
      client.send(new sdk.ChangeMessageVisibilityBatchCommand({ QueueUrl, Entries })),
    );
  }

  /** Answers false when the queue is gone. */
  async send(message: NewMessage): Promise<boolean> {
    const failure = await this.#send.run(message);
    if (failure && failure.code !== NO_QUEUE) throw refused('sent', failure);
    return failure === null;
  }

  /** A message that is gone already is as good as deleted. */
  async remove(handle: string): Promise<void> {
    const failure = await this.#remove.run({ ReceiptHandle: handle });
    if (failure && !isWorthless(failure.code)) throw refused('deleted', failure);
  }

  async hide(handle: string, ms: number): Promise<void> {
    const failure = await this.#hide.run({ ReceiptHandle: handle, VisibilityTimeout: secondsOf(ms) });
    if (failure && !isWorthless(failure.code)) throw refused('hidden', failure);
  }

  async idle(): Promise<void> {
    await Promise.all([this.#send.idle(), this.#remove.idle(), this.#hide.idle()]);
  }
}

/** SQS counts in seconds and hides for twelve hours at most. */
export const secondsOf = (ms: number): number => Math.min(LONGEST_VISIBILITY_S, Math.max(0, Math.ceil(ms / 1000)));

const refused = (what: string, { code, message, isOurs }: NonNullable<Failure>): WaybillError =>
  new WaybillError(isOurs ? 'invalid_request' : 'unavailable', `A message could not be ${what}: ${message}`, {
    details: { code },
  });

/** SQS will not have the message as it is, however often it is sent. */
export const isRefusedMessage = (error: unknown): boolean =>
  error instanceof WaybillError ? error.code === 'invalid_request' : isRefusal(error);
