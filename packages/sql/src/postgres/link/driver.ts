import { loadOptional } from '@waybill/core';
import type { CustomTypesConfig } from './pg-types.ts';

export type Driver = typeof import('pg')['default'];

/** `pg` is an optional peer: who keeps to SQLite need not install it. */
export async function loadDriver(): Promise<Driver> {
  return (await loadOptional({ name: 'pg', needs: 'The PostgreSQL store needs' }, () => import('pg'))).default;
}

const INT8 = 20;
const INT8_ARRAY = 1016;

/** Times and counters are int8 and fit into a number; `pg` would hand them out as text. */
export function typesOf({ types }: Driver): CustomTypesConfig {
  const arrayOfText = types.getTypeParser(INT8_ARRAY as never);
  return {
    getTypeParser: ((oid: number, format?: 'text' | 'binary') => {
      if (oid === INT8) return Number;
      if (oid === INT8_ARRAY) return (text: string) => arrayOfText(text).map(Number);
      return types.getTypeParser(oid as never, format as never);
    }) as CustomTypesConfig['getTypeParser'],
  };
}
