import { type Clock, systemClock } from '@waybill/core';

/** A date of HTTP has whole seconds: the service's time was this much later at most. */
const GRAIN_MS = 1_000;
/** How fast the monotonic clock of a machine may go wrong: 500 millionths, as much as NTP ever corrects. */
const DRIFT = 0.000_5;
/** How fast the shown time is corrected, in milliseconds per millisecond. */
const SLEW = 0.05;
/** What is further off is corrected at once. Maintenance takes a step of more than two seconds for a jump, and waits. */
const STEP_MS = 2_000;
/** So many answers in a row, over this time at least, prove that the service's time is not what it was thought to be. */
const PROOF_ANSWERS = 3;
const PROOF_MS = 1_000;
/** Wall and monotonic time apart by this much: the machine slept, or its clock was set. */
const APART_MS = 1_000;

/** How far the service's time can be from the monotonic time of this machine, as known at a moment. */
interface Bounds {
  from: number;
  to: number;
  at: number;
}

/** The part of a client of the SDK that sees answers as they come. */
interface Watched {
  middlewareStack: { add(middleware: never, options: never): void; remove(middleware: never): boolean };
}

/**
 * The service's time, by the date that each of its answers carries, without a request of its own. An answer bounds the
 * time from both sides: the date was written after the request went out and before the answer came, and stands for a
 * whole second. Where answers meet, the bounds narrow down to about a round trip. The wall clock of this machine is
 * believed while no answer disproves it; from then on setting it changes nothing.
 */
export class ServiceClock implements Clock {
  readonly #local: Clock;
  #bounds: Bounds | null = null;
  /** What answers say that contradict the bounds. */
  #rival: { bounds: Bounds; answers: number; since: number } | null = null;
  /** What is added to monotonic time now, and what that moves towards. */
  #offset: number;
  #aim: number;
  #movedAt: number;
  #apartThen: number;

  constructor(local: Clock = systemClock) {
    this.#local = local;
    this.#apartThen = this.#apart();
    this.#offset = this.#aim = this.#apartThen;
    this.#movedAt = this.monotonic();
  }

  now(): number {
    return Math.round(this.#move());
  }

  monotonic(): number {
    return this.#local.monotonic();
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return this.#local.sleep(ms, signal);
  }

  /** Looks at every answer that the client gets, until the returned function is called. */
  watch(client: object): () => void {
    if (!('middlewareStack' in client)) return () => {};
    const { middlewareStack } = client as Watched;
    const middleware = (next: (args: unknown) => Promise<{ response: unknown }>) => async (args: unknown) => {
      const sentAt = this.monotonic();
      const result = await next(args);
      const { headers } = result.response as { headers?: Record<string, string> };
      this.learn(sentAt, Date.parse(headers?.['date'] ?? ''));
      return result;
    };
    // Next to the wire: refusals are seen too, and the time that a body takes does not count.
    middlewareStack.add(middleware as never, { step: 'deserialize', priority: 'low' } as never);
    return () => middlewareStack.remove(middleware as never);
  }

  /** An answer has come to what was sent at this monotonic time, and it carries this date. */
  learn(sentAt: number, date: number): void {
    if (Number.isNaN(date)) return;
    const at = this.monotonic();
    const told = { from: date - at, to: date + GRAIN_MS - sentAt, at };
    const isFirst = this.#bounds === null;
    // Monotonic time stands still while a machine sleeps, so what was known before says nothing any more.
    const isUncertain = Math.abs(this.#apart() - this.#apartThen) > APART_MS;
    this.#apartThen = this.#apart();
    const met = isFirst || isUncertain ? told : meet(aged(this.#bounds!, at), told);
    if (met) {
      this.#rival = null;
      this.#bounds = met;
    } else if (!this.#isProven(told)) return;
    this.#correct(isFirst);
  }

  /** One answer may be wrong, from a host with a bad clock; several that agree over a while are not. */
  #isProven(told: Bounds): boolean {
    const { at } = told;
    const known = this.#rival;
    const agreed = known && meet(aged(known.bounds, at), told);
    this.#rival = agreed
      ? { bounds: agreed, answers: known.answers + 1, since: known.since }
      : { bounds: told, answers: 1, since: at };
    const { answers, since, bounds } = this.#rival;
    if (answers < PROOF_ANSWERS || at - since < PROOF_MS) return false;
    this.#bounds = bounds;
    this.#rival = null;
    return true;
  }

  /** An aim that is within the bounds stays, so that time does not jitter. */
  #correct(isFirst: boolean): void {
    const { from, to } = this.#bounds!;
    this.#move();
    if (this.#aim < from || this.#aim > to) this.#aim = (from + to) / 2;
    // Nobody has gone by this clock before its first answer.
    if (isFirst || Math.abs(this.#aim - this.#offset) > STEP_MS) this.#offset = this.#aim;
  }

  /** Brings the offset nearer to its aim by what the time since allows, and answers the time. */
  #move(): number {
    const at = this.monotonic();
    if (this.#offset !== this.#aim) {
      const most = Math.max(0, at - this.#movedAt) * SLEW;
      this.#offset += Math.min(most, Math.max(-most, this.#aim - this.#offset));
    }
    this.#movedAt = at;
    return at + this.#offset;
  }

  #apart(): number {
    return this.#local.now() - this.#local.monotonic();
  }
}

function aged({ from, to, at }: Bounds, now: number): Bounds {
  const drift = (now - at) * DRIFT;
  return { from: from - drift, to: to + drift, at: now };
}

function meet(one: Bounds, other: Bounds): Bounds | null {
  const from = Math.max(one.from, other.from);
  const to = Math.min(one.to, other.to);
  return from <= to ? { from, to, at: other.at } : null;
}
