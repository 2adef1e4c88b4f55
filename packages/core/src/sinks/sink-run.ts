import type { EventType } from '../events/job-event.ts';
import { Signal } from '../events/signal.ts';
import { LONGEST_BACKOFF_MS } from './backoff.ts';
import { DeliveryWindow, type Pending } from './delivery-window.ts';
import { eventIdOf, linesOf, tenantOf } from './event-id.ts';
import { type HeldLock, RENEW_EVERY_MS } from './held-lock.ts';
import { LineParking, type ParkingHost } from './line-parking.ts';
import { type DeliveryObserver, type Sink, SinkRefusal, type SinkState } from './sink.ts';
import { reasonOf, SinkFacts } from './sink-facts.ts';
import { SinkHealth } from './sink-health.ts';
import type { RunEnd, SinkParts } from './sink-parts.ts';
import { RECOVERED, type VersionedState } from './sink-states.ts';

/** Deliveries of the last second are repeated after a crash. */
const SAVE_EVERY_MS = 1_000;
/** A sink that nothing is for only keeps up with the log. */
const SAVE_PLACE_EVERY_MS = 60_000;
const AFTER_ERROR_MS = 1_000;
/** What is under way when the server stops may end within this. */
const GRACE_MS = 5_000;
const UNNAMED = { kind: 'sink' };

/** One sink, for as long as this server holds its lock. Only `go` reads and writes what is kept, one call at a time. */
export class SinkRun {
  readonly #sink: Sink;
  readonly #parts: SinkParts;
  readonly #lock: HeldLock;
  readonly #window: DeliveryWindow;
  readonly #health: SinkHealth;
  readonly #facts: SinkFacts;
  readonly #parking: LineParking;
  readonly #woken = new Signal();
  readonly #room = new Signal();
  /** No more is read. */
  readonly #closing = new AbortController();
  /** What is under way must end. */
  readonly #giveUp = new AbortController();
  readonly #inFlight = new Set<Promise<void>>();
  #state: SinkState;
  #version: number;
  /** The head of the window takes over what has failed before this run. */
  #inherits: boolean;
  #hasProgress = false;
  #hasMissed = false;
  #isInTrouble = false;
  #savedAt: number;
  #renewAt: number;
  #end: RunEnd | undefined;
  #pausedReason: string | undefined;
  #failure: { error: unknown } | undefined;

  constructor(sink: Sink, parts: SinkParts, lock: HeldLock, { state, version }: VersionedState) {
    this.#sink = sink;
    this.#parts = parts;
    this.#lock = lock;
    this.#state = state;
    this.#version = version;
    // Unless it was about a parked line, which knows that by itself.
    this.#inherits = state.failingSince !== null && !state.parked.some(({ failures }) => failures > 0);
    this.#window = new DeliveryWindow(state.cursor, parts.bounds, linesOf(sink));
    this.#health = new SinkHealth(sink, parts.clock);
    this.#facts = new SinkFacts(sink, parts);
    const { clock, read, pauseAfterMs } = parts;
    const line = { sink, clock, read, pauseAfterMs, window: this.#window, health: this.#health, facts: this.#facts };
    this.#parking = new LineParking(state.parked, line, this.#parkingHost());
    this.#savedAt = parts.clock.monotonic();
    this.#renewAt = this.#savedAt + RENEW_EVERY_MS;
  }

  #parkingHost(): ParkingHost {
    const isOver = () => this.#end !== undefined;
    return {
      get isOver() {
        return isOver();
      },
      try: (pending) => this.#try(pending),
      lastError: () => this.#state.lastError ?? '',
      changed: () => {
        this.#hasProgress = true;
        this.#woken.ring();
      },
      roomMade: () => this.#room.ring(),
      wasSetAside: () => {
        this.#state = { ...this.#state, missed: true };
        this.#hasProgress = true;
      },
      wasPruned: () => {
        this.#hasMissed = true;
      },
      later: (error, what) => this.#later(error, what),
    };
  }

  /** What is tried again and again, if anything is. */
  get failing(): { since: number; reason: string } | null {
    const since = this.#failingSince();
    return since === null ? null : { since, reason: this.#state.lastError ?? 'It fails.' };
  }

  /** What is kept of the sink may have been changed: looks at once. */
  recheck(): void {
    this.#renewAt = 0;
    this.#woken.ring();
  }

  stop(): void {
    this.#finish('stopped');
  }

  async go(): Promise<RunEnd> {
    const { clock } = this.#parts;
    const reading = this.#read().catch((error: unknown) => {
      this.#failure = { error };
      this.#woken.ring();
    });
    while (this.#end === undefined && this.#failure === undefined) {
      const woken = this.#woken.next();
      if (clock.monotonic() >= this.#renewAt) await this.#renew();
      if (!this.#lock.isHeld) this.#finish('lost');
      if (this.#hasMissed) await this.#tellMissed();
      if (this.#parking.isCrowded) await this.#parking.dropMostRefused();
      this.#deliverWhatIsDue();
      if (clock.monotonic() >= this.#saveAt()) await this.#save();
      if (this.#end === undefined) await clock.sleep(this.#waitMs(), woken);
    }
    this.#closing.abort('over');
    this.#room.ring();
    await Promise.all([reading, this.#endDeliveries()]);
    if (this.#end === 'lost' || this.#end === 'changed') return this.#end;
    const isFailing = this.failing !== null;
    if (this.#hasProgress || isFailing || this.#window.cursor !== this.#state.cursor) await this.#save();
    if (this.#end === 'paused' && this.#pausedReason !== undefined) await this.#tellPaused(this.#pausedReason);
    if (this.#failure) throw this.#failure.error;
    return this.#end ?? 'stopped';
  }

  async #read(): Promise<void> {
    const { types, queues, jobTypes } = this.#sink.filter;
    const tenant = tenantOf(this.#sink);
    const { signal } = this.#closing;
    const events = this.#parts.follow({
      ...(this.#state.cursor !== null && { after: this.#state.cursor }),
      filter: { tenant, ...(types && { types: types as readonly EventType[] }), ...(queues && { queues }) },
      signal,
      onPlace: (cursor) => this.#window.passedTo(cursor),
      onMissed: () => {
        this.#hasMissed = true;
        this.#woken.ring();
      },
    });
    for await (const event of events) {
      if (signal.aborted) return;
      if (jobTypes && (event.jobType === undefined || !jobTypes.includes(event.jobType))) {
        this.#window.passedTo(event.cursor);
        continue;
      }
      const line = this.#window.lineOf(event);
      if (this.#parking.lines.leave(line, eventIdOf(event))) {
        this.#window.passedTo(event.cursor);
        continue;
      }
      this.#window.push(event);
      if (this.#inherits) this.#inherit(this.#window.head!);
      this.#woken.ring();
      while ((this.#window.isFull || this.#window.isOverShare(line)) && !signal.aborted) {
        const room = this.#room.next();
        if (!this.#parking.makeRoom(line)) await this.#parts.clock.sleep(RENEW_EVERY_MS, room);
      }
    }
  }

  #inherit(head: Pending): void {
    const { clock } = this.#parts;
    const { failingSince, failingMs, failures, nextTryAt } = this.#state;
    this.#inherits = false;
    head.failingSince = failingSince;
    head.failures = Math.max(1, failures);
    head.takenBefore = 0;
    head.failingFrom = clock.monotonic() - failingMs;
    // Clocks of servers differ, and are set: the wait is never longer than one that this server would have chosen.
    const waitMs = Math.min(LONGEST_BACKOFF_MS, Math.max(0, (nextTryAt ?? 0) - clock.now()));
    head.nextTryAt = clock.monotonic() + waitMs;
  }

  #deliverWhatIsDue(): void {
    while (this.#end === undefined && this.#inFlight.size < this.#health.parallel) {
      const visit = this.#parking.visitNext();
      if (!visit) break;
      this.#start(visit);
    }
    while (this.#end === undefined) {
      const next = this.#health.next(this.#window, this.#inFlight.size);
      if (!next) return;
      next.isInFlight = true;
      this.#start(this.#deliver(next));
    }
  }

  #start(work: Promise<void>): void {
    const delivering = work.finally(() => {
      this.#inFlight.delete(delivering);
      this.#woken.ring();
    });
    this.#inFlight.add(delivering);
  }

  async #deliver(pending: Pending): Promise<void> {
    if (!(await this.#try(pending))) return;
    this.#window.done(pending);
    this.#room.ring();
  }

  /** Answers whether it was taken. */
  async #try(pending: Pending): Promise<boolean> {
    const { id, event, failures } = pending;
    const { signal } = this.#giveUp;
    const attempt = failures + 1;
    const { observe, open } = this.#parts;
    try {
      const opened = await open(event);
      const deliver = () => this.#sink.deliver({ id, event: opened, attempt }, signal);
      if (observe) await observe(this.#tried(event.type, attempt), deliver);
      else await deliver();
    } catch (error) {
      pending.isInFlight = false;
      if (!signal.aborted) this.#failed(pending, error);
      return false;
    }
    this.#health.succeeded(this.#window);
    this.#state = { ...this.#state, delivered: this.#state.delivered + 1 };
    this.#hasProgress = true;
    return true;
  }

  #tried(eventType: string, attempt: number): Parameters<DeliveryObserver>[0] {
    const { tenant, target = UNNAMED } = this.#sink;
    return { tenant, target, eventType, attempt };
  }

  #failed(pending: Pending, error: unknown): void {
    const { clock, logger, pauseAfterMs } = this.#parts;
    const refusal = error instanceof SinkRefusal ? error : undefined;
    const reason = reasonOf(error);
    this.#health.failed(pending, { retryAfterMs: refusal?.retryAfterMs });
    const now = clock.now();
    this.#state = { ...this.#state, failures: this.#state.failures + 1, lastError: reason, lastErrorAt: now };
    this.#hasProgress = true;
    const { tenant, id } = this.#sink;
    logger.debug({ sink: id, tenant, event: pending.id, tries: pending.failures, reason }, 'A delivery failed.');
    if (refusal?.isFinal) this.#pause(`The receiver wants no more: ${reason}`);
    else if (this.#health.isRefused(pending)) this.#refusedFor(pauseAfterMs, pending);
    else if (this.#isFailingFor(pauseAfterMs)) this.#pause(`It has failed for too long: ${reason}`);
  }

  #refusedFor(ms: number, pending: Pending): void {
    const isTooLong = this.#parts.clock.monotonic() - pending.failingFrom! >= ms;
    if (isTooLong && this.#window.has(pending)) this.#parking.park(pending);
  }

  /** What is refused while others are taken is no reason to pause. */
  #isFailingFor(ms: number): boolean {
    const now = this.#parts.clock.monotonic();
    return this.#window.failing().some((one) => !this.#health.isRefused(one) && now - one.failingFrom! >= ms);
  }

  #pause(reason: string): void {
    this.#pausedReason ??= reason;
    this.#finish('paused');
  }

  #finish(end: RunEnd): void {
    this.#end ??= end;
    this.#woken.ring();
  }

  /** Those of a sink that is another server's now are given up at once. */
  async #endDeliveries(): Promise<void> {
    const all = Promise.all(this.#inFlight);
    if (this.#end === 'stopped' || this.#end === 'paused') await this.#within(GRACE_MS, all);
    this.#giveUp.abort('over');
    // A sink that ignores the signal must keep neither this server from ending nor another one from its lock.
    await this.#within(GRACE_MS, all);
    if (this.#inFlight.size === 0) return;
    const { id, tenant } = this.#sink;
    this.#parts.logger.warn(
      { sink: id, tenant },
      'Deliveries did not end when they were aborted; they were left behind.',
    );
  }

  async #within(ms: number, all: Promise<unknown>): Promise<void> {
    const enough = new AbortController();
    await Promise.race([all, this.#parts.clock.sleep(ms, enough.signal)]);
    enough.abort('over');
  }

  async #renew(): Promise<void> {
    const { clock, states } = this.#parts;
    try {
      if (!(await this.#lock.renew())) return this.#finish('lost');
      if ((await states.read(this.#sink))?.version !== this.#version) return this.#finish('changed');
      this.#renewAt = clock.monotonic() + RENEW_EVERY_MS;
      this.#isInTrouble = false;
    } catch (error) {
      this.#later(error, 'The lock of a sink could not be renewed.');
      this.#renewAt = clock.monotonic() + AFTER_ERROR_MS;
    }
  }

  /** When what is kept must be written. */
  #saveAt(): number {
    if (this.#hasProgress) return this.#savedAt + SAVE_EVERY_MS;
    const isBehind = this.#window.cursor !== this.#state.cursor;
    return isBehind ? this.#savedAt + SAVE_PLACE_EVERY_MS : Number.POSITIVE_INFINITY;
  }

  async #save(): Promise<void> {
    const { clock, states } = this.#parts;
    this.#savedAt = clock.monotonic();
    this.#hasProgress = false;
    const before = this.#state;
    const place = { cursor: this.#window.cursor, parked: this.#parking.toKeep() };
    const state = { ...before, ...this.#failing(), ...place };
    try {
      const version = await states.write(this.#sink, state, this.#version);
      if (version === null) {
        // Also where somebody has asked to stop meanwhile: nothing more may be written.
        this.#end = 'changed';
        return;
      }
      this.#version = version;
      // What was delivered while this was written is not in it.
      const { delivered, failures, lastError, lastErrorAt, missed } = this.#state;
      const isNewer = this.#state !== before;
      this.#state = { ...state, ...(isNewer && { delivered, failures, lastError, lastErrorAt, missed }) };
    } catch (error) {
      this.#hasProgress = true;
      this.#later(error, 'How far a sink is could not be saved.');
    }
  }

  #failing(): Partial<SinkState> {
    // Nothing of it was read yet.
    if (this.#inherits) return {};
    const { clock } = this.#parts;
    const failing = [...this.#window.failing(), ...this.#parking.lines.failing()];
    if (failing.length === 0) return RECOVERED;
    const now = clock.monotonic();
    const inMs = this.#health.nextTryAt(failing) - now;
    const from = Math.min(...failing.map(({ failingFrom }) => failingFrom ?? now));
    return {
      failingSince: this.#failingSince(),
      failingMs: Math.round(now - from),
      nextTryAt: clock.now() + Math.max(0, Math.round(inMs)),
    };
  }

  /** Of the oldest that fails: a sink that is down is tried with others. */
  #failingSince(): number | null {
    const failing = [...this.#window.failing(), ...this.#parking.lines.failing()];
    const since = failing.flatMap(({ failingSince }) => failingSince ?? []);
    return since.length === 0 ? null : Math.min(...since);
  }

  async #tellMissed(): Promise<void> {
    this.#hasMissed = false;
    try {
      await this.#facts.pruned();
      this.#state = { ...this.#state, missed: true };
      this.#hasProgress = true;
    } catch (error) {
      this.#hasMissed = true;
      this.#later(error, 'It could not be told that a sink has missed events.');
    }
  }

  async #tellPaused(reason: string): Promise<void> {
    // Told before it is written: whoever crashes in between tells it again.
    await this.#facts.paused(reason);
    const state = { ...this.#state, status: 'paused' as const, pausedReason: reason };
    await this.#parts.states.write(this.#sink, state, this.#version);
  }

  #waitMs(): number {
    const { clock } = this.#parts;
    const at = Math.min(this.#saveAt(), this.#renewAt) - clock.monotonic();
    const wait = Math.min(at, this.#health.waitMs(this.#window, this.#inFlight.size));
    return Math.min(wait, this.#parking.waitMs(), this.#hasMissed ? AFTER_ERROR_MS : Number.POSITIVE_INFINITY);
  }

  /** Once, until the store answers again: it is tried every second. */
  #later(error: unknown, what: string): void {
    const level = this.#isInTrouble ? 'debug' : 'warn';
    this.#isInTrouble = true;
    this.#parts.logger[level]({ err: error, sink: this.#sink.id, tenant: this.#sink.tenant }, what);
  }
}
