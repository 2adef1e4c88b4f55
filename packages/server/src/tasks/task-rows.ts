import { mapOf, placeOf, type WorkflowNode } from '@waybill/core';

/** The rows of one task. */
export interface TaskRows {
  /** Has the name of the task. */
  row: WorkflowNode;
  /** The rounds of a task with a review, in order; of any other its row alone. */
  rounds: readonly WorkflowNode[];
  first: WorkflowNode;
  newest: WorkflowNode;
  /** From 1. */
  iteration: number;
  dependsOn: readonly string[];
}

/** Tasks in the order in which they were added. Callbacks have no name, and jobs of maps that of their map. */
export function tasksIn(rows: readonly WorkflowNode[]): TaskRows[] {
  const rounds = new Map<string, WorkflowNode[]>();
  for (const row of rows) {
    const owner = row.node === null ? undefined : mapOf(row.node);
    if (owner !== undefined) rounds.set(owner, [...(rounds.get(owner) ?? []), row]);
  }
  return rows.filter(isTask).map((row) => taskOf(row, rounds.get(row.node!) ?? []));
}

/** Whether the row stands for a task, and for no round of one. */
export const isTask = ({ node }: Pick<WorkflowNode, 'node'>): boolean => node !== null && mapOf(node) === undefined;

function taskOf(row: WorkflowNode, others: readonly WorkflowNode[]): TaskRows {
  const isReviewed = row.spec.rules?.review !== undefined && others.length > 0;
  const rounds = isReviewed ? others.toSorted((a, b) => placeOf(a.node!) - placeOf(b.node!)) : [row];
  const [first, newest] = [rounds[0]!, rounds.at(-1)!];
  return { row, rounds, first, newest, iteration: isReviewed ? placeOf(newest.node!) : 1, dependsOn: first.dependsOn };
}
