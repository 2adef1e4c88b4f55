import type { Clock } from '../../clock.ts';
import type { Job } from '../../job/job.ts';
import type { ClaimRequest } from '../../store/claim.ts';
import type { ReceiveRequest } from '../transport.ts';
import type { WaitingClaim } from '../waiting-claim.ts';

/** The claims that have looked, found nothing and wait, in the order in which they came. */
export class WaitingClaims {
  readonly #clock: Clock;
  readonly #waiting = new Set<Place>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  enter(asked: ReceiveRequest, wake: () => void): Place {
    const place = new Place(asked, wake, this.#clock);
    this.#waiting.add(place);
    return place;
  }

  /** The wait is over. Answers what the claim was served with, if it was. */
  leave(place: Place): Promise<Job[] | null> | undefined {
    this.#waiting.delete(place);
    return place.served;
  }

  /** The one that has waited longest for a job of this queue; nobody else gets it. */
  take(tenant: string, queue: string): WaitingClaim | undefined {
    for (const place of this.#waiting) {
      if (!place.wants(tenant, queue)) continue;
      this.#waiting.delete(place);
      return place;
    }
    return undefined;
  }
}

export class Place implements WaitingClaim {
  served: Promise<Job[] | null> | undefined;
  readonly #asked: ReceiveRequest;
  readonly #wake: () => void;
  readonly #clock: Clock;

  constructor(asked: ReceiveRequest, wake: () => void, clock: Clock) {
    this.#asked = asked;
    this.#wake = wake;
    this.#clock = clock;
  }

  get request(): ClaimRequest {
    const { tenant, queues, max: limit, claim } = this.#asked;
    return { tenant, queues, limit, ...claim, now: this.#clock.now() };
  }

  wants(tenant: string, queue: string): boolean {
    return this.#asked.tenant === tenant && this.#asked.queues.includes(queue);
  }

  serve(jobs: Promise<Job[] | null>): void {
    this.served = jobs;
    this.#wake();
  }
}
