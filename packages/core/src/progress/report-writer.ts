import { GroupCommit } from '../commit/group-commit.ts';
import type { ReportAnswer, ReportRequest } from '../store/reports.ts';
import type { Store } from '../store/store.ts';

/** What runs say of themselves on the way into the store, many at a time. */
export class ReportWriter {
  readonly #reports: GroupCommit<ReportRequest, ReportAnswer>;

  constructor(store: Store) {
    const { maxBatch: maxItems } = store.capabilities;
    // One after another: two reports of one run must not overtake each other.
    this.#reports = new GroupCommit({ flush: (requests) => store.reports.add(requests), maxItems, parallel: 1 });
  }

  add(request: ReportRequest): Promise<ReportAnswer> {
    return this.#reports.run(request);
  }

  idle(): Promise<void> {
    return this.#reports.idle();
  }
}
