import { kindOf } from '@waybill/core';

/**
 * Whether a subscription means events of this type. `*` means all but the audit, which tells who called from where: that
 * goes to others only where it is named.
 */
export const wants = (events: readonly string[], type: string): boolean =>
  events.includes(type) || events.includes(`${kindOf(type)}.*`) || (events.includes('*') && kindOf(type) !== 'audit');
