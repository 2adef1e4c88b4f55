import type { Job } from '../job/job.ts';
import type { Progress } from '../job/progress.ts';
import type { Json, JsonObject } from '../json.ts';
import type { Change } from '../store/apply.ts';
import type { ClaimAnswer } from '../store/claim.ts';
import type { InsertAnswer, NewJob } from '../store/insert.ts';
import { overlay } from '../store/overlay.ts';
import type { ReportRequest } from '../store/reports.ts';
import type { Store, StoreWithin } from '../store/store.ts';
import type { BlobStore } from './blob-store.ts';
import { fittingEvents, fittingPage } from './fitting-page.ts';
import { JobPayloads } from './job-payloads.ts';
import { lackError, Payloads } from './payloads.ts';
import { type WholeClaim, wholeClaims } from './whole-claims.ts';

export interface BlobOptions {
  store: BlobStore;
  /** A payload whose JSON has more bytes is kept in the blob store. @defaultValue 65_536 */
  threshold?: number;
}

const THRESHOLD = 65_536;

export interface Offloaded {
  store: Store;
  payloads: JobPayloads;
  /** Reads rows without their args and results over a size; only where these can be had by an address. */
  apart?: (overBytes: number) => Pick<Store, 'get' | 'list'>;
}

/**
 * The store with its large payloads elsewhere: a blob is put before the row that refers to it is written, and whoever
 * reads the row finds the payload in its place. What only the engine itself looks at (due rows, waiting children,
 * admitted jobs) keeps its references, since it looks at no payload. Without blobs nobody pays for any of this.
 */
export function offloadedStore(inner: Store, { store: blobs, threshold = THRESHOLD }: BlobOptions): Offloaded {
  const values = new Payloads(blobs, threshold);
  const payloads = new JobPayloads(values);
  const { events, reports, workflows, crons } = inner;

  const readers = (target: Pick<Store, 'get'>, overBytes = Number.POSITIVE_INFINITY): Pick<Store, 'get' | 'list'> => ({
    get: async (keys) => Promise.all((await target.get(keys)).map((job) => job && payloads.open(job, overBytes))),
    list: async (query) => {
      const { items, ...rest } = await fittingPage(inner, query, (job) => payloads.bytesOf(job, overBytes));
      return { items: await Promise.all(items.map((job) => payloads.open(job, overBytes))), ...rest };
    },
  });
  const leaveAll = (jobs: readonly Job[]): Job[] => jobs.map((job) => payloads.leave(job));

  const sealNew = async (made: NewJob): Promise<NewJob> => ({
    ...made,
    ...(await sealOne(made)),
    ...(made.unique?.replace && {
      unique: { ...made.unique, replace: { ...made.unique.replace, ...(await sealOne(made.unique.replace)) } },
    }),
  });
  const sealOne = async ({ job, events: told }: Pick<Change, 'job' | 'events'>) => {
    const [sealed, sealedEvents] = await Promise.all([payloads.seal(job), payloads.sealEvents(told)]);
    return { job: sealed, events: sealedEvents };
  };
  const sealAll = (made: readonly NewJob[]): Promise<NewJob[]> => Promise.all(made.map(sealNew));

  const openInserted = async (answer: InsertAnswer, made: readonly NewJob[]): Promise<InsertAnswer> => {
    if (answer.status === 'closed') return answer;
    if (answer.status !== 'inserted') return { ...answer, job: await payloads.open(answer.job) };
    // Nobody needs to fetch what the caller has just brought.
    const jobs = answer.jobs.map((job, index) => {
      const { spec, result, errors } = made[index]!.job;
      return { ...job, spec, result, errors };
    });
    return { ...answer, jobs };
  };

  const rowsOf = (target: StoreWithin): StoreWithin => ({
    insert: async (groups) => {
      const sealed = await Promise.all(groups.map(async (group) => ({ ...group, jobs: await sealAll(group.jobs) })));
      const answers = await target.insert(sealed);
      return Promise.all(answers.map((answer, index) => openInserted(answer, groups[index]!.jobs)));
    },
    get: readers(target).get,
    apply: async (changes) => {
      const sealed = await Promise.all(changes.map(async (change) => ({ ...change, ...(await sealOne(change)) })));
      const answers = await target.apply(sealed);
      return answers.map((answer) =>
        answer.status === 'applied' ? { ...answer, admitted: leaveAll(answer.admitted) } : answer,
      );
    },
  });

  const sealReport = async (request: ReportRequest): Promise<ReportRequest> => {
    const { checkpoint } = request.report;
    if (checkpoint === undefined) return request;
    const sealed = (await values.seal(request, 'checkpoint', checkpoint)) as JsonObject;
    return { ...request, report: { ...request.report, checkpoint: sealed } };
  };
  /** A checkpoint that is gone is none: the run begins anew. One that cannot be read now may be read later. */
  const openProgress = async <T extends Progress | null>(progress: T): Promise<T> => {
    if (!progress?.checkpoint) return progress;
    const { value, lack } = await values.open(progress, progress.checkpoint);
    if (lack?.cause !== undefined) throw lackError(progress, lack);
    return { ...progress, checkpoint: lack ? null : (value as JsonObject) };
  };

  const store = overlay(inner, {
    ...rowsOf(inner),
    ...(inner.within && { within: (transaction) => rowsOf(inner.within!(transaction)) }),
    list: readers(inner).list,
    claim: async (requests) => {
      const claimed = await inner.claim(requests);
      const whole = await wholeClaims(inner, payloads, claimed.flat());
      return claimed.map((jobs) => jobs.flatMap((job) => wholeJob(whole.get(job)!)));
    },
    // An enqueue would have to wait until the payloads of what was claimed have been fetched.
    insertAndClaim: undefined,
    claimById: async (request) => {
      const answers = await inner.claimById(request);
      const claimed = answers.flatMap((answer) => (answer.status === 'claimed' ? [answer.job] : []));
      const whole = await wholeClaims(inner, payloads, claimed);
      return answers.map((answer) => (answer.status === 'claimed' ? toAnswer(whole.get(answer.job)!) : answer));
    },
    due: async (query) => {
      const { jobs, admitted, ...rest } = await inner.due(query);
      return { jobs: leaveAll(jobs), admitted: leaveAll(admitted), ...rest };
    },
    events: overlay(events, {
      read: async (query) => {
        const page = fittingEvents(await events.read(query));
        return { ...page, events: await Promise.all(page.events.map((event) => payloads.openEvent(event))) };
      },
    }),
    reports: overlay(reports, {
      add: async (requests) => {
        const answers = await reports.add(await Promise.all(requests.map(sealReport)));
        return Promise.all(
          answers.map(async (answer) =>
            answer.status === 'noted' ? { ...answer, progress: await openProgress(answer.progress) } : answer,
          ),
        );
      },
      get: async (keys) => Promise.all((await reports.get(keys)).map(openProgress)),
    }),
    workflows: overlay(workflows, {
      meet: async (parents) => leaveAll(await workflows.meet(parents)),
      waiting: async (parents) => leaveAll(await workflows.waiting(parents)),
      parents: async (children) => {
        const openResult = async (id: string, stored: Json | null): Promise<Json | null> => {
          const { value, lack } = await values.open({ tenant: children.tenant, id }, stored);
          if (lack?.cause !== undefined) throw lackError({ tenant: children.tenant, id }, lack);
          return value;
        };
        const families = await workflows.parents(children);
        return Promise.all(
          families.map((family) =>
            Promise.all(family.map(async (one) => ({ ...one, result: await openResult(one.id, one.result) }))),
          ),
        );
      },
      move: async (request) => workflows.move({ ...request, jobs: await sealAll(request.jobs) }),
    }),
    crons: overlay(crons, {
      fire: async ({ job, ...request }) => crons.fire(job ? { ...request, job: await sealNew(job) } : request),
    }),
    close: async () => {
      await inner.close();
      await blobs.close();
    },
  });
  const apart = (overBytes: number) => readers(inner, overBytes);
  return { store, payloads, ...(blobs.presign && { apart }) };
}

const wholeJob = (claim: WholeClaim): Job[] => (claim.status === 'whole' ? [claim.job] : []);

const toAnswer = (claim: WholeClaim): ClaimAnswer => {
  if (claim.status === 'whole') return { status: 'claimed', job: claim.job };
  return { status: claim.status === 'gone' ? 'finished' : 'not_due' };
};
