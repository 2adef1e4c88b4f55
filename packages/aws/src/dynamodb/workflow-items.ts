import type { InsertGroup, JsonObject, WorkflowRecord, WorkflowState } from '@waybill/core';
import { all, equals } from './conditions.ts';
import { type GroupView, tenantOf } from './group-view.ts';
import { type Item, number, present, text } from './items.ts';
import { partsOfKey, workflowKey } from './keys.ts';
import type { Write } from './writes.ts';

export function itemOfWorkflow(record: WorkflowRecord): Item {
  return present({
    ...workflowKey(record.tenant, record.id),
    ty: record.type,
    nm: record.name,
    st: record.state,
    fp: record.failurePolicy,
    cb: JSON.stringify(record.callbacks),
    to: record.total,
    cr: record.createdAt,
    fi: record.finishedAt,
  });
}

export function workflowOf(item: Item): WorkflowRecord {
  const [tenant, id] = partsOfKey(item);
  return {
    tenant,
    id,
    type: item['ty'] as string,
    name: text(item, 'nm'),
    state: item['st'] as WorkflowState,
    failurePolicy: item['fp'] as string,
    callbacks: JSON.parse(item['cb'] as string) as JsonObject,
    total: number(item, 'to') ?? 0,
    createdAt: item['cr'] as number,
    finishedAt: number(item, 'fi'),
  };
}

/** Makes the workflow of a group, or counts further nodes of one that still runs and that no other has joined meanwhile. */
export function enterWorkflow(group: InsertGroup, { workflowItem }: GroupView): Write[] {
  const { workflow, jobs } = group;
  if (!workflow) return [];
  if ('create' in workflow) return [{ put: itemOfWorkflow(workflow.create) }];
  const update = workflowKey(tenantOf(group), workflow.join);
  const isAsRead = all(equals('st', 'running'), equals('to', workflowItem?.['to'] ?? null));
  return [{ update, change: { add: { to: jobs.length } }, if: isAsRead }];
}
