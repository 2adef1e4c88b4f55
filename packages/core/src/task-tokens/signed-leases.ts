import type { Fence, HeartbeatCall, Jobs, Lease, Waybill } from '../waybill.ts';
import type { TokenSigner } from './token-signer.ts';

/**
 * The port with signed lease tokens: those of claims are sealed on their way out, and opened on their way in. For servers,
 * whose tokens leave the process. It stands below the scoped port, so the tenant of a call is known.
 */
export function withSignedLeases(waybill: Waybill, signer: TokenSigner): Waybill {
  return { ...waybill, jobs: signedJobs(waybill.jobs, signer), close: () => waybill.close() };
}

function signedJobs(jobs: Jobs, signer: TokenSigner): Jobs {
  const sealed = async (lease: Lease): Promise<Lease> => {
    const { tenant, id: jobId, queue } = lease.job;
    return { ...lease, token: await signer.seal({ tenant, jobId, queue, lease: lease.token }) };
  };
  const opened = async <Call extends Fence & { id: string; tenant?: string }>(call: Call): Promise<Call> => {
    const { leaseToken, id: jobId, tenant = '', queue } = call;
    if (leaseToken === undefined) return call;
    try {
      return { ...call, leaseToken: (await signer.open(leaseToken, { tenant, jobId, queue })).lease };
    } catch (error) {
      // A job that is not there for this caller is not found, whatever the token is.
      await jobs.get(jobId, { tenant });
      throw error;
    }
  };
  /** What cannot be given back now is run again when its lease ends. */
  const giveBack = (leases: readonly Lease[]) =>
    Promise.allSettled(
      leases.map(({ job: { tenant, id }, token: leaseToken }) =>
        jobs.settle({ tenant, id, leaseToken, outcome: { kind: 'requeued', error: UNSIGNED } }),
      ),
    );
  /** A token that is not valid extends nothing: its job is answered as lost, unless the call is strict. */
  const held = async ({ tenant = '', jobs: asked, strict = false }: HeartbeatCall) =>
    Promise.all(
      asked.map(async ({ id, leaseToken, queue }) => {
        if (leaseToken === undefined) return { id };
        if (strict) return opened({ tenant, id, leaseToken, ...(queue !== undefined && { queue }) });
        const facts = await signer.open(leaseToken, { tenant, jobId: id, queue }).catch(refusedOnly);
        return facts && { id, leaseToken: facts.lease };
      }),
    );
  return {
    ...jobs,
    claim: async (call) => {
      // Before a job is taken: one whose token cannot be signed would be held by a worker that never gets it.
      await signer.ready();
      const leases = await jobs.claim(call);
      try {
        return await Promise.all(leases.map(sealed));
      } catch (error) {
        await giveBack(leases);
        throw error;
      }
    },
    settle: async (call) => jobs.settle(await opened(call)),
    report: async (call) => jobs.report(await opened(call)),
    spend: async (call) => jobs.spend(await opened(call)),
    append: async (call) => jobs.append(await opened(call)),
    ask: async (call) => jobs.ask(await opened(call)),
    heartbeat: async (call) => {
      const known = await held(call);
      const answer = await jobs.heartbeat({ ...call, jobs: known.filter((job) => job !== undefined) });
      const forged = call.jobs.flatMap(({ id }, index) => (known[index] ? [] : [id]));
      return forged.length === 0 ? answer : { ...answer, lost: [...answer.lost, ...forged] };
    },
  };
}

const UNSIGNED = { code: 'undelivered', message: 'The server could not sign the lease token of this claim.' };

/** A store that is away is no reason to call a lease lost. */
function refusedOnly(error: unknown): undefined {
  if (error instanceof Error && 'code' in error && error.code === 'invalid_request') return undefined;
  throw error;
}
