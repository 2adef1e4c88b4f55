import { checkJson } from '../check.ts';
import type { Heartbeats } from '../claim/heartbeat.ts';
import type { FollowUp } from '../commit/follow-up.ts';
import { GroupCommit } from '../commit/group-commit.ts';
import type { Writer } from '../commit/writer.ts';
import { invalidField } from '../errors.ts';
import { parseToken } from '../job/lease.ts';
import type { Progress, Report } from '../job/progress.ts';
import type { JsonObject } from '../json.ts';
import { checkId } from '../read-query.ts';
import { checkQueueOf, refusal } from '../settle/refusal.ts';
import type { ReportAnswer, ReportRequest } from '../store/reports.ts';
import type { Store } from '../store/store.ts';
import type { ReportCall } from '../waybill.ts';

/** It is written on every report and sent to everybody who watches. */
const MAX_DATA_BYTES = 16_384;
/** It is written on every report that brings one, and read once per run. */
const MAX_CHECKPOINT_BYTES = 262_144;

interface ReporterParts {
  store: Store;
  writer: Writer;
  followUp: FollowUp;
  heartbeats: Heartbeats;
}

/** A run's reports on the way into the store. */
export class Reporter {
  readonly #parts: ReporterParts;
  readonly #reports: GroupCommit<ReportRequest, ReportAnswer>;

  constructor(parts: ReporterParts) {
    const { maxBatch: maxItems } = parts.store.capabilities;
    this.#parts = parts;
    // One after another: two reports of one run must not overtake each other.
    this.#reports = new GroupCommit({ flush: (requests) => parts.store.reports.add(requests), maxItems, parallel: 1 });
  }

  async report(call: ReportCall): Promise<Progress> {
    const { tenant = '', id, workerId } = call;
    checkId(id);
    const report = checked(call);
    const token = call.leaseToken === undefined ? undefined : parseToken(call.leaseToken);
    const { store, heartbeats, followUp } = this.#parts;
    await heartbeats.extend({ tenant, id, token, workerId, leaseMs: null });
    const by = token ? { run: token.run, claimId: token.claimId } : workerId === undefined ? 'anyone' : { workerId };
    const answer = await this.#reports.run({ tenant, id, by, report, now: store.clock.now() });
    if (answer.status === 'lost') {
      const job = await this.#parts.writer.mustRead({ tenant, id });
      checkQueueOf(job, call.queue);
      throw refusal(job, token, workerId);
    }
    followUp.reported();
    return answer.progress;
  }

  async progress(id: string, { tenant = '' }: { tenant?: string } = {}): Promise<Progress | null> {
    checkId(id);
    const [progress] = await this.#parts.store.reports.get([{ tenant, id }]);
    // Only where there is none it matters whether there is such a job.
    if (!progress) await this.#parts.writer.mustRead({ tenant, id });
    return progress ?? null;
  }

  idle(): Promise<void> {
    return this.#reports.idle();
  }
}

function checked({ number, fraction, data, checkpoint }: ReportCall): Report {
  if (fraction === undefined && data === undefined && checkpoint === undefined) {
    throw invalidField('progress', 'or data or checkpoint must be given.');
  }
  if (fraction !== undefined && !Number.isFinite(fraction)) throw invalidField('progress', 'must be a number.');
  if (number !== undefined && !(Number.isSafeInteger(number) && number >= 1)) {
    throw invalidField('number', 'must be an integer from 1 on.');
  }
  return {
    number: number ?? null,
    ...(fraction !== undefined && { fraction }),
    ...(data !== undefined && { data: bounded('data', data, MAX_DATA_BYTES) }),
    ...(checkpoint !== undefined && { checkpoint: bounded('checkpoint', checkpoint, MAX_CHECKPOINT_BYTES) }),
  };
}

function bounded(field: string, value: JsonObject, max: number): JsonObject {
  checkJson(value);
  const bytes = Buffer.byteLength(JSON.stringify(value));
  if (bytes <= max) return value;
  throw invalidField(field, `must have at most ${max} bytes as JSON, not ${bytes}.`, { max_bytes: max, bytes });
}
