import type { Attributes } from '@opentelemetry/api';
import type { Job } from '@waybill/core';

/** Under which name spans and metrics are made. */
export const INSTRUMENTATION = '@waybill/telemetry';

type Operation = 'send' | 'receive' | 'process' | 'settle';

/** By the semantic conventions of messaging. Ids are on spans only: as labels of metrics they would have no end. */
export function messaging(type: Operation, name: string, queue?: string): Attributes {
  return {
    'messaging.system': 'waybill',
    'messaging.operation.type': type,
    'messaging.operation.name': name,
    ...(queue !== undefined && { 'messaging.destination.name': queue }),
  };
}

export function ofJob({ id, type, queue, workflowId }: Job): Attributes {
  return {
    'messaging.destination.name': queue,
    'waybill.job.id': id,
    'waybill.job.type': type,
    ...(workflowId !== null && { 'waybill.workflow.id': workflowId }),
  };
}
