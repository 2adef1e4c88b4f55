import type { Edge } from '@waybill/core';

/** The values of the column `kind` of an edge; 0 where it is between two jobs. */
export const EDGE_KINDS = { into_join: 1, out_of_join: 2 } as const;

export const edgeKind = ({ join }: Edge): number => (join ? EDGE_KINDS[join] : 0);
