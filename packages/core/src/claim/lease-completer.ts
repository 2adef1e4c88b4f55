import type { JobPayloads } from '../blobs/job-payloads.ts';
import { lackError } from '../blobs/payloads.ts';
import { changeOf } from '../commit/row-change.ts';
import type { Writer } from '../commit/writer.ts';
import { parseToken } from '../job/lease.ts';
import type { Outcome } from '../job/outcome.ts';
import { transition } from '../job/transition.ts';
import type { Logger } from '../logger.ts';
import type { Store } from '../store/store.ts';
import type { Transport } from '../transport/transport.ts';
import type { Lease } from '../waybill.ts';

/** When a job is tried again that lacks something just now. */
const AGAIN_MS = 10_000;

interface CompleterParts {
  store: Store;
  writer: Writer;
  transport: Transport;
  logger: Logger;
  /** Where payloads are kept outside of the rows. */
  payloads?: JobPayloads;
}

/**
 * Gives leases what a run needs besides its row: its payload, the results of its parents, its checkpoint. A job must not
 * reach a worker without them. One whose payload is gone for good becomes a dead letter, which says so; one that lacks
 * something just now is put off, which costs it no attempt. Other jobs of the same claim are not held up.
 */
export class LeaseCompleter {
  readonly #parts: CompleterParts;
  /** By claim, while it is being completed. */
  readonly #underWay = new Map<string, Promise<Lease[]>>();

  constructor(parts: CompleterParts) {
    this.#parts = parts;
  }

  /** Plain jobs without blobs need nothing, and cost nothing here. */
  needs(leases: readonly Lease[]): boolean {
    return this.#parts.payloads !== undefined || leases.some(needsMore);
  }

  /**
   * Answers the leases that can be worked on. The same claim, asked for twice at once, gets one answer: what the first call
   * puts off must not come with the second.
   */
  async complete(tenant: string, leases: readonly Lease[]): Promise<Lease[]> {
    const key = `${tenant}\n${leases[0]?.job.claimId}`;
    const known = this.#underWay.get(key);
    if (known) return (await known).map((lease) => ({ ...lease }));
    const completed = this.#complete(tenant, leases);
    this.#underWay.set(key, completed);
    try {
      return await completed;
    } finally {
      this.#underWay.delete(key);
    }
  }

  async #complete(tenant: string, leases: readonly Lease[]): Promise<Lease[]> {
    const { payloads, logger } = this.#parts;
    const refused = new Map<Lease, Outcome>();
    for (const lease of leases) {
      const lack = payloads?.lackOf(lease.job);
      if (lack) refused.set(lease, lack.cause === undefined ? gone(lackError(lease.job, lack)) : this.#later());
    }
    const asking = leases.filter((lease) => !refused.has(lease) && needsMore(lease));
    const add = async (some: readonly Lease[]): Promise<void> => {
      await Promise.all([this.#addParentResults(tenant, some), this.#addCheckpoints(tenant, some)]);
    };
    // All at once; when that fails, each alone and side by side: their leases run meanwhile.
    await add(asking).catch(() =>
      Promise.all(
        asking.map((lease) =>
          add([lease]).catch((error: unknown) => {
            const { id } = lease.job;
            logger.warn({ err: error, job: id }, 'A claimed job lacked something that it needs, and was put off.');
            refused.set(lease, this.#later());
          }),
        ),
      ),
    );
    if (refused.size > 0) await this.#handBack(refused);
    return leases.filter((lease) => !refused.has(lease));
  }

  #later(): Outcome {
    return { kind: 'snoozed', until: this.#parts.store.clock.now() + AGAIN_MS };
  }

  /** The rows say what becomes of the jobs, so their messages have done their work. */
  async #handBack(refused: ReadonlyMap<Lease, Outcome>): Promise<void> {
    const { store, writer, logger } = this.#parts;
    const now = store.clock.now();
    const changes = [...refused].flatMap(([{ job }, outcome]) => {
      const settled = transition(job, { do: 'settle', outcome }, now);
      return settled ? [changeOf(job, { by: 'lease', run: job.run, claimId: job.claimId! }, settled)] : [];
    });
    try {
      await writer.apply(changes);
    } catch (error) {
      // The other jobs of the claim go on; these come back when their leases have ended.
      logger.warn({ err: error, jobs: changes.length }, 'Claimed jobs that lacked something could not be put off.');
      return;
    }
    await Promise.all([...refused.keys()].map((lease) => this.#ack(lease)));
  }

  async #ack({ token, job }: Lease): Promise<void> {
    const { transport, logger } = this.#parts;
    const receipt = parseToken(token)?.receipt;
    if (receipt === undefined) return;
    await transport
      .ack({ tenant: job.tenant, jobId: job.id, queue: job.queue, receipt })
      .catch((error: unknown) =>
        logger.warn({ err: error, job: job.id }, 'A message could not be deleted; the row makes it harmless.'),
      );
  }

  /** Nodes of a workflow get what their parents came to; one read for all of them. */
  async #addParentResults(tenant: string, leases: readonly Lease[]): Promise<void> {
    for (const lease of leases) {
      const handed = lease.job.spec.options?.['parent_results'];
      if (Array.isArray(handed)) lease.parentResults = handed;
    }
    const nodes = leases.filter(({ job }) => job.workflowId !== null);
    if (nodes.length === 0) return;
    const families = await this.#parts.store.workflows.parents({ tenant, ids: nodes.map(({ job }) => job.id) });
    nodes.forEach((lease, index) => {
      const family = families[index]!;
      const revision = lease.job.spec.rules?.revision;
      // Made by the engine: the iteration before is the last of its parents.
      const parents = revision ? family.slice(0, -1) : family;
      if (revision) lease.revision = { ...revision, previous: family.at(-1)?.result ?? null };
      if (parents.length > 0) lease.parentResults = parents.map(({ result }) => result);
    });
  }

  /** One read for all that ran before. */
  async #addCheckpoints(tenant: string, leases: readonly Lease[]): Promise<void> {
    const again = leases.filter(({ job }) => job.run > 1);
    if (again.length === 0) return;
    const known = await this.#parts.store.reports.get(again.map(({ job }) => ({ tenant, id: job.id })));
    again.forEach((lease, index) => {
      const checkpoint = known[index]?.checkpoint;
      if (checkpoint) lease.checkpoint = checkpoint;
    });
  }
}

/** Hardly any job does: it is a node of a workflow, or was one elsewhere, or runs again. */
const needsMore = ({ job }: Lease): boolean =>
  job.run > 1 || job.workflowId !== null || job.spec.options?.['parent_results'] !== undefined;

const gone = ({ code, message }: { code: string; message: string }): Outcome => ({
  kind: 'discarded',
  error: { code, message },
  deadLetter: true,
});
