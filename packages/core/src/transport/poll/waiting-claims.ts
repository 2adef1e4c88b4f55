import type { Job } from '../../job/job.ts';
import type { ClaimRequest } from '../../store/claim.ts';
import type { ReceiveRequest } from '../transport.ts';
import type { WaitingClaim } from '../waiting-claim.ts';
import type { Waiter } from './wake-ups.ts';

/** A claim that begins to wait. */
export interface Wait {
  asked: ReceiveRequest;
  /** The claim as of now. */
  toClaim(asked: ReceiveRequest): ClaimRequest;
  /** Aborted when nobody is there any more to take a job. */
  signal: AbortSignal;
  woken: Waiter;
  /** Notes the wait after this one. */
  listen(): Waiter;
}

/** What a claim is served with. `woken` has listened since before anybody looked for it. */
export interface Handed {
  jobs: Promise<Job[] | null>;
  woken: Waiter;
}

/** The claims that have looked, found nothing and wait, in the order in which they came. */
export class WaitingClaims {
  readonly #waiting = new Set<Place>();

  enter(wait: Wait): Place {
    const place = new Place(wait);
    this.#waiting.add(place);
    return place;
  }

  /** The wait is over. Answers what the claim was served with, if it was. */
  leave(place: Place): Handed | undefined {
    this.#waiting.delete(place);
    return place.handed;
  }

  /** The one that has waited longest for a job of this queue; nobody else gets it. */
  take(tenant: string, queue: string): WaitingClaim | undefined {
    for (const place of this.#waiting) {
      if (!place.wants(tenant, queue)) continue;
      this.#waiting.delete(place);
      place.listen();
      return place;
    }
    return undefined;
  }
}

export class Place implements WaitingClaim {
  handed: Handed | undefined;
  readonly #wait: Wait;
  #next: Waiter | undefined;

  constructor(wait: Wait) {
    this.#wait = wait;
  }

  get request(): ClaimRequest {
    return this.#wait.toClaim(this.#wait.asked);
  }

  /** A wait that was given up in this turn has not left yet. */
  wants(tenant: string, queue: string): boolean {
    const { asked, signal } = this.#wait;
    return !signal.aborted && asked.tenant === tenant && asked.queues.includes(queue);
  }

  /** Somebody is about to look in our stead: what comes from now on must not be slept through. */
  listen(): void {
    this.#next = this.#wait.listen();
  }

  serve(jobs: Promise<Job[] | null>): void {
    this.handed = { jobs, woken: this.#next! };
    this.#wait.woken.wake();
  }
}
