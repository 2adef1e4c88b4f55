import type { ServiceImpl } from '@connectrpc/connect';
import { jobToWire } from '@waybill/client';
import { countOf, timeOf } from '@waybill/client/rpc';
import { invalidField } from '@waybill/core';
import type { ReportRequest, WorkerService } from '@waybill/protocol';
import { MAX_WORKER_ID } from '../../ojs/fields.ts';
import { UndeliveredClaims } from '../../ojs/undelivered.ts';
import type { Surface } from '../../surface.ts';
import { portFor } from '../call.ts';
import { budgetToRpc } from '../codec/budget-codec.ts';
import { jobIdOf, leaseMsOf, leaseTokenOf, workerIdOf } from '../codec/fields.ts';
import { jobToRpc, leaseToRpc, progressToRpc } from '../codec/job-codec.ts';
import { outcomeFromRpc } from '../codec/outcome-codec.ts';
import { askFromRpc, questionToRpc } from '../codec/question-codec.ts';
import { claimJobs } from './claim.ts';

const MAX_JOBS = 1_000;

export function workerService({ logger, requireLease }: Surface): ServiceImpl<typeof WorkerService> {
  const undelivered = new UndeliveredClaims(logger);
  return {
    claim: async (request, context) => {
      const leases = await claimJobs(request, context, undelivered);
      return { leases: leases.map((lease) => leaseToRpc(lease, request.withEnvelope)) };
    },

    heartbeat: async ({ workerId, instance, jobs, lease }, context) => {
      if (workerId === '') throw invalidField('worker_id', 'is required.');
      if (jobs.length > MAX_JOBS) throw invalidField('jobs', `must have at most ${MAX_JOBS} items.`);
      if (instance !== undefined && (instance === '' || instance.length > MAX_WORKER_ID))
        throw invalidField('instance', `must have 1 to ${MAX_WORKER_ID} characters.`);
      const beat = await portFor(context).jobs.heartbeat({
        workerId,
        ...workerIdOf(workerId),
        ...(instance !== undefined && { instance }),
        jobs: jobs.map(({ jobId, leaseToken }, index) => ({
          id: jobIdOf(jobId, `jobs[${index}].job_id`),
          ...leaseTokenOf(leaseToken),
        })),
        ...leaseMsOf(lease, 'lease'),
      });
      return {
        directive: beat.directive,
        extended: beat.extended.map(({ id, leaseUntil }) => ({ jobId: id, leaseExpiresAt: timeOf(leaseUntil) })),
        lost: beat.lost,
        serverTime: timeOf(beat.now),
      };
    },

    settle: async (request, context) => {
      const { jobId, leaseToken, workerId } = request;
      const run = { id: jobIdOf(jobId), ...leaseTokenOf(leaseToken, requireLease), ...workerIdOf(workerId) };
      const outcome = outcomeFromRpc(request.outcome, 'outcome');
      const job = await portFor(context).jobs.settle({ ...run, outcome });
      return { job: jobToRpc(job, request.withEnvelope ? jobToWire(job) : undefined) };
    },

    report: async (request, context) => {
      const { jobId, leaseToken, workerId, data, checkpoint } = request;
      const run = { id: jobIdOf(jobId), ...leaseTokenOf(leaseToken), ...workerIdOf(workerId) };
      const report = { ...numbersOf(request), ...(data && { data }), ...(checkpoint && { checkpoint }) };
      return { progress: progressToRpc(await portFor(context).jobs.report({ ...run, ...report })) };
    },

    ask: async (request, context) => ({
      question: questionToRpc(await portFor(context).jobs.ask(askFromRpc(request))),
    }),
    spend: async ({ jobId, leaseToken, workerId, amounts, key, number }, context) => {
      const run = { id: jobIdOf(jobId), ...leaseTokenOf(leaseToken, requireLease), ...workerIdOf(workerId) };
      const count = numbersOf({ number });
      const { budgets } = await portFor(context).jobs.spend({
        ...{ ...run, amounts, ...count },
        ...(key !== undefined && { key }),
      });
      return { budgets: budgets.map(budgetToRpc) };
    },
  };
}

type Numbers = Pick<ReportRequest, 'number'> & Partial<Pick<ReportRequest, 'fraction'>>;

function numbersOf({ number, fraction }: Numbers): { number?: number; fraction?: number } {
  const count = number === undefined ? undefined : countOf(number, 'number');
  if (count !== undefined && count < 1) throw invalidField('number', 'must be at least 1.');
  if (fraction !== undefined && !Number.isFinite(fraction)) throw invalidField('fraction', 'must lie between 0 and 1.');
  return { ...(count !== undefined && { number: count }), ...(fraction !== undefined && { fraction }) };
}
