import { createHash } from 'node:crypto';
import { type AskCall, checkNames, type Jobs, type Lease, type Question, WaybillError } from '@waybill/core';
import type { Answer, AskOptions } from '../context.ts';

/** Of an engine, of a client, or of a test that needs no questions. */
export type AskingJobs = Partial<Pick<Jobs, 'ask'>>;

const NAMES = ['key', 'text', 'choices', 'details', 'expiresInMs'];

/** The questions of one run, one after the other: the first one without an answer ends the run. */
export class RunQuestions {
  readonly #lease: Lease;
  readonly #jobs: AskingJobs;
  /** How often the same was asked without a key. */
  readonly #repeated = new Map<string, number>();
  #last: Promise<unknown> = Promise.resolve();
  /** The question that the run has ended for, and how it was asked. */
  #open: { call: AskCall; question: Question } | undefined;

  constructor(lease: Lease, jobs: AskingJobs) {
    this.#lease = lease;
    this.#jobs = jobs;
  }

  /** To be made again when the run was settled. */
  get waitsFor(): AskCall | undefined {
    return this.#open?.call;
  }

  ask(asked: AskOptions): Promise<Question> {
    checkNames('context.ask()', asked, NAMES);
    const { key = this.#keyOf(asked), ...question } = asked;
    const { job, token } = this.#lease;
    const call = { tenant: job.tenant, id: job.id, leaseToken: token, key, ...question };
    const answer = this.#last.then(() => this.#send(call));
    this.#last = answer.catch(() => {});
    return answer;
  }

  async #send(call: AskCall): Promise<Question> {
    if (this.#open !== undefined) return this.#open.question;
    const { ask } = this.#jobs;
    if (ask === undefined) throw new WaybillError('unsupported', "The worker's connection keeps no questions.");
    const question = await ask(call);
    if (question.status === 'open') this.#open = { call, question };
    return question;
  }

  /** By what is asked: an answer is never taken for that to another question, whatever the order of the calls. */
  #keyOf({ text, choices = [] }: AskOptions): string {
    const digest = createHash('sha256')
      .update(JSON.stringify([text, choices]))
      .digest('hex')
      .slice(0, 24);
    const count = (this.#repeated.get(digest) ?? 0) + 1;
    this.#repeated.set(digest, count);
    return `asked-${digest}-${count}`;
  }
}

/** What a handler is told; null: it must wait. */
export function answerTo({ status, answer, expiresAt }: Question): Answer | null {
  if (answer !== null) return { status: 'answered', ...answer };
  return status === 'open' ? null : { status: 'expired', at: expiresAt };
}
