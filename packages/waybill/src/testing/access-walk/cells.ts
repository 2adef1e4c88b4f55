import type { Principal } from '@waybill/core';

/** The finest part of a world that a principal can be narrowed to. */
export interface Cell {
  tenant: string;
  queue: string;
  type: string;
}

export const QUEUES = ['q1', 'q2'] as const;
export const TYPES = ['send.one', 'send.two'] as const;

export const cellsOf = (tenant: string): Cell[] =>
  QUEUES.flatMap((queue) => TYPES.map((type) => ({ tenant, queue, type })));

/** Stands in everything that is made in a cell, so that an answer tells by itself whose things it shows. */
export const markOf = ({ tenant, queue, type }: Cell): string => `m.${tenant}.${queue}.${type.slice(5)}.m`;
/** Of what belongs to one type in all queues: a workflow is of whoever sees all its jobs. */
export const typeMarkOf = ({ tenant, type }: Cell): string => `m.${tenant}.all.${type.slice(5)}.m`;
/** Of what belongs to a tenant and to no queue or type. */
export const wholeMarkOf = (tenant: string): string => `m.${tenant}.all.all.m`;

const MARK = /m\.(\w+)\.(\w+)\.(\w+)\.m/g;

/** A principal, with the tenant that its calls are about. */
export type Scoping = Pick<Principal, 'tenant' | 'queues' | 'types'>;

export const isNarrowed = ({ queues, types }: Scoping): boolean => queues !== undefined || types !== undefined;

export const sees = ({ tenant, queues, types }: Scoping, cell: Cell): boolean =>
  cell.tenant === tenant && (queues?.includes(cell.queue) ?? true) && (types?.includes(cell.type) ?? true);

/** The marks in a text that a principal should not be shown. */
export function foreignMarks(text: string, { tenant, queues, types }: Scoping): string[] {
  const isMine = (names: readonly string[] | undefined, name: string) => names === undefined || names.includes(name);
  return [...text.matchAll(MARK)]
    .filter(([, whose, queue, type]) => whose !== tenant || !isMine(queues, queue!) || !isMine(types, `send.${type}`))
    .map(([mark]) => mark);
}
