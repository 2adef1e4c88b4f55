import { shownWord } from '../connect/shown-address.ts';

/** Key names are the user's: an address may stand where a key should. */
export const pathOf = (parts: readonly string[]): string => parts.map((part) => shownWord(part).slice(0, 60)).join('.');
