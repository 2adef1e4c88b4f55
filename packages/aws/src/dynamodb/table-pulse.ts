import { WaybillError } from '@waybill/core';
import { faultOf } from '../doctor/faults.ts';
import { Pulse } from '../pulse.ts';
import type { Base } from './base.ts';

/** Whether the table can be read. */
export function tablePulse({ db, settings }: Base): Pulse {
  const { table } = settings;
  return new Pulse(settings.clock, async () => {
    try {
      await db.ping();
    } catch (cause) {
      const asked = { service: 'DynamoDB', action: 'dynamodb:GetItem', resource: `table/${table}` } as const;
      const isGone = (cause as Error).name === 'ResourceNotFoundException';
      const message = isGone ? `The table '${table}' does not exist.` : `DynamoDB: ${faultOf(cause, asked).message}.`;
      throw new WaybillError('unavailable', message, { cause });
    }
  });
}
