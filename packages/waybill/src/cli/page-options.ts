import type { Options, Values } from './command.ts';
import { readLimit } from './read-value.ts';

export const PAGE_OPTIONS = {
  limit: { value: 'N', about: 'how many, 1 to 1000', default: '50' },
  cursor: { value: 'TEXT', about: 'go on where the page before ended' },
} as const satisfies Options;

export function readPage({ limit, cursor }: Values<typeof PAGE_OPTIONS>): { limit: number; cursor?: string } {
  return { limit: readLimit(limit), ...(cursor !== undefined && { cursor }) };
}
