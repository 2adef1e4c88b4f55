import { isDeepStrictEqual } from 'node:util';
import { checkJson, checkNames, Fields } from '../check.ts';
import { closest } from '../closest.ts';
import type { Writer } from '../commit/writer.ts';
import { invalidField, WaybillError } from '../errors.ts';
import { type GateCommand, isOpen, MAX_FEEDBACK, MAX_ITERATIONS, reviewOf, signalOf } from '../job/gate.ts';
import { isFinished, isToAdvance, type Job } from '../job/job.ts';
import type { Json } from '../json.ts';
import type { Store } from '../store/store.ts';
import type { WorkflowRecord } from '../store/workflow-record.ts';
import type { Approval, GateWait, RevisionRequest } from '../waybill.ts';
import { isItemOf } from './item-names.ts';
import { MAX_NODES } from './shape.ts';

const MAX_BY = 256;

interface DecisionParts {
  store: Store;
  writer: Writer;
  /** Looks at the node and at what stands behind it. Never rejects. */
  advance(job: Job): Promise<void>;
  nodesOf(tenant: string, workflowId: string): AsyncIterable<Job>;
}

/**
 * What comes to gates from outside. Each decision is one compare-and-set of the gate's row, so of several at once one
 * counts; what follows from it the engine does as for every node, also when this process dies on the way.
 */
export class Decisions {
  readonly #parts: DecisionParts;

  constructor(parts: DecisionParts) {
    this.#parts = parts;
  }

  async signal(workflow: WorkflowRecord, name: string, data: Json, by?: string): Promise<void> {
    const command = { do: 'signal', data: checkData(data), ...checkBy(by) } as const;
    const found = await this.#find(workflow, name, 'signal');
    const isSame = (job: Job): boolean => {
      const known = job.outcome === 'skipped' ? null : signalOf(job);
      return known !== null && isDeepStrictEqual(known.data, command.data);
    };
    await this.#change(workflow, found, command, isSame);
  }

  async approve(workflow: WorkflowRecord, name: string, approval: Approval = {}, by?: string): Promise<void> {
    checkNames('An approval', approval, ['comment', 'iteration']);
    const fields = new Fields(approval as Json);
    const comment = fields.string('comment', { max: MAX_FEEDBACK });
    const said = { ...iterationIn(fields), ...checkBy(by), ...(comment !== undefined && { comment }) };
    const command = { do: 'approve', ...said } as const;
    const found = await this.#find(workflow, name, 'review');
    const isApproved = (job: Job): boolean =>
      job.state === 'completed'
        ? job.outcome === 'completed'
        : job.state === 'pending' && reviewOf(job).isApproved === true;
    await this.#change(workflow, found, command, isApproved);
  }

  async requestRevision(workflow: WorkflowRecord, name: string, request: RevisionRequest, by?: string): Promise<void> {
    checkNames('A revision', request, ['feedback', 'iteration']);
    const fields = new Fields(request as unknown as Json);
    const feedback = fields.requiredString('feedback', { max: MAX_FEEDBACK });
    if (feedback.trim() === '') throw invalidField('feedback', 'must say what shall be different.');
    const command = { do: 'revise', feedback, ...iterationIn(fields), ...checkBy(by) } as const;
    const found = await this.#find(workflow, name, 'review');
    if (workflow.total >= MAX_NODES)
      throw new WaybillError('conflict', `Workflow ${workflow.id} has ${MAX_NODES} nodes, and can have no more.`);
    await this.#change(workflow, found, command, () => false);
  }

  /** `isDone`: the row says that this very decision was made before. */
  async #change(
    { state }: WorkflowRecord,
    { tenant, id }: Job,
    command: GateCommand,
    isDone: (job: Job) => boolean,
  ): Promise<void> {
    const { store, writer, advance } = this.#parts;
    const refuse = (job: Job): WaybillError =>
      isDone(job) ? new Done() : refusal(job, command, state, store.clock.now());
    try {
      await advance(await writer.change({ tenant, id }, command, refuse));
      // Where that has ended the gate, what stands behind it goes on before the call answers.
      const gate = await writer.read({ tenant, id });
      if (gate && isToAdvance(gate)) await advance(gate);
    } catch (error) {
      if (!(error instanceof Done)) throw error;
    }
  }

  async #find({ tenant, id }: WorkflowRecord, name: string, kind: 'signal' | 'review'): Promise<Job> {
    if (typeof name !== 'string' || name === '')
      throw invalidField(kind === 'signal' ? 'name' : 'node', 'is required.');
    const known: string[] = [];
    for await (const job of this.#parts.nodesOf(tenant, id)) {
      const isMeant = job.node !== null && job.spec.rules?.[kind] !== undefined;
      if (isMeant && job.node === name) return job;
      if (isMeant) known.push(job.node!);
    }
    throw notFound({ id, name: name.slice(0, 255), kind, known });
  }
}

/** Not an error of the call: it was made before, and its answer is the same. */
class Done extends WaybillError {
  constructor() {
    super('conflict', 'This decision was made before.');
  }
}

function checkData(data: Json): Json {
  if (data === undefined) throw invalidField('data', 'is required: send null where there is nothing to say.');
  checkJson(data);
  // As it is stored, so that it can be compared.
  return JSON.parse(JSON.stringify(data)) as Json;
}

function checkBy(by: string | undefined): { by?: string } {
  if (by === undefined) return {};
  if (typeof by === 'string' && by !== '' && by.length <= MAX_BY) return { by };
  throw invalidField('by', `must be a text of 1 to ${MAX_BY} characters.`);
}

function iterationIn(fields: Fields): { iteration?: number } {
  const iteration = fields.integer('iteration', { min: 1, max: MAX_ITERATIONS });
  return iteration === undefined ? {} : { iteration };
}

function notFound(asked: {
  id: string;
  name: string;
  kind: 'signal' | 'review';
  known: readonly string[];
}): WaybillError {
  const { id, name, kind, known } = asked;
  const what = kind === 'signal' ? `no node that waits for a signal '${name}'` : `no node '${name}' with a review`;
  const item = known.find((one) => isItemOf(name, one));
  const meant = item ?? closest(name, known);
  const hint =
    meant !== undefined
      ? `Did you mean '${meant}'?`
      : known.length > 0
        ? `It has ${known.slice(0, 20).join(', ')}.`
        : undefined;
  return new WaybillError('not_found', `Workflow ${id} has ${what}.${hint === undefined ? '' : ` ${hint}`}`, {
    details: { workflow_id: id, [kind === 'signal' ? 'signal' : 'node']: name, allowed: known.slice(0, 100) },
  });
}

/** Says what the node waits for instead. */
function refusal(job: Job, command: GateCommand, workflow: string, now: number): WaybillError {
  const { node, state, outcome } = job;
  const details = { job_id: job.id, node, state };
  const conflict = (why: string, more: object = {}) =>
    new WaybillError('conflict', `Node '${node}' ${why}`, { details: { ...details, ...more } });
  if (outcome === 'skipped') return conflict('was skipped.');
  if (state === 'completed')
    return conflict(command.do === 'signal' ? 'got this signal with other data before.' : 'was approved before.');
  if (isFinished(state)) return conflict(`is ${state}, and waits for nothing any more.`);
  if (command.do === 'signal')
    return job.result === null
      ? conflict('has waited too long: its time for this signal is over.')
      : conflict('got this signal with other data before.');
  const { iteration, isApproved } = reviewOf(job);
  if (isApproved) return conflict('was approved before.', { iteration });
  if (job.startedAt === null)
    return conflict(`is not in review: iteration ${iteration} has not completed, and the workflow is ${workflow}.`, {
      iteration,
    });
  if (!isOpen(job, now)) return conflict('has waited too long: its time for a review is over.', { iteration });
  if (command.do !== 'open' && command.iteration !== undefined && command.iteration !== iteration)
    return conflict(`is in review with iteration ${iteration}, not ${command.iteration}.`, { iteration });
  return conflict(`had ${MAX_ITERATIONS} iterations, which are all there can be: approve it, or cancel the workflow.`, {
    iteration,
  });
}

/** What a node of a workflow waits for from outside. */
export function waitOf(job: Job, now: number): GateWait | undefined {
  const { signal, review } = job.spec.rules ?? {};
  if (!(signal || review) || !isOpen(job, now)) return undefined;
  const until = job.timeoutAt;
  return signal ? { for: 'signal', until } : { for: 'review', until, iteration: reviewOf(job).iteration };
}
