import { invalidField } from '@waybill/core';
import type { Ctx } from './env.ts';

const TEXT = /^[\x20-\x7e]{1,255}$/;

/** A name in a path, for the engine to look up. What no name can be is refused: not every store could be asked for it. */
export function pathText(c: Ctx, param: 'name' | 'key' | 'id'): string {
  const text = c.req.param(param) ?? '';
  if (TEXT.test(text)) return text;
  throw invalidField(param, 'must have 1 to 255 printable ASCII characters.');
}
