import type { InsertGroup, JsonObject, WorkflowReason, WorkflowRecord, WorkflowState } from '@waybill/core';
import { all, equals } from './conditions.ts';
import { type GroupView, tenantOf } from './group-view.ts';
import { type Item, number, present, text } from './items.ts';
import { partsOfKey, workflowKey } from './keys.ts';
import { alarmAt } from './rows.ts';
import type { Settings } from './settings.ts';
import type { Write } from './writes.ts';

export function itemOfWorkflow(record: WorkflowRecord, settings: Settings): Item {
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
    tm: record.timeoutMs,
    nx: record.nextAt,
    rs: record.reason,
    sp: record.skips,
    ...flowAlarm(record, settings),
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
    timeoutMs: number(item, 'tm'),
    nextAt: number(item, 'nx'),
    reason: text(item, 'rs') as WorkflowReason | null,
    skips: 'sp' in item,
  };
}

/** Where the engine looks for workflows whose moment has come. */
export const flowAlarm = (
  { tenant, id, nextAt }: Pick<WorkflowRecord, 'tenant' | 'id' | 'nextAt'>,
  settings: Settings,
): Item => alarmAt(nextAt, `${tenant} ${id}`, settings);

/** Makes the workflow of a group, or counts further nodes of one that still runs and that no other has joined meanwhile. */
export function enterWorkflow(group: InsertGroup, { workflowItem }: GroupView, settings: Settings): Write[] {
  const { workflow, jobs } = group;
  if (!workflow) return [];
  if ('create' in workflow) return [{ put: itemOfWorkflow(workflow.create, settings) }];
  const update = workflowKey(tenantOf(group), workflow.join);
  const isAsRead = all(equals('st', 'running'), equals('to', workflowItem?.['to'] ?? null));
  return [{ update, change: { add: { to: jobs.length } }, if: isAsRead }];
}
