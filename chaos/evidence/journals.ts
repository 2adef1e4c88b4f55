import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { Line, Note } from './note.ts';

/** All that the actors have noted, of each in its order. A last line that was cut off is left out. */
export function readJournals(folder: string): Note[] {
  return readdirSync(folder).flatMap((file) => {
    const by = path.basename(file, '.jsonl');
    const lines = readFileSync(path.join(folder, file), 'utf8').split('\n');
    return lines.slice(0, -1).map((line) => ({ ...(JSON.parse(line) as Line), by }));
  });
}
