import { WaybillError } from '@waybill/core';

/** Where a page ended that goes by id, newest first. */
export const writeCursor = (id: string): string => Buffer.from(id).toString('base64url');

export function readCursor(cursor: string): string {
  const id = Buffer.from(cursor, 'base64url').toString();
  if (writeCursor(id) === cursor) return id;
  throw new WaybillError('invalid_request', 'The cursor was not made by this store.');
}
