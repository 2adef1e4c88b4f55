import { join } from 'node:path';
import { calls, says } from '../../src/testing/index.ts';
import type { RecordedRequest } from '../../src/testing/recorded-request.ts';
import type { Turn } from '../../src/testing/turn.ts';

/**
 * A model that writes to answer.txt in its working folder, another text for each prompt, and then is done. It asks for
 * the folder first, as `Write` takes full paths, and removes the file, as `Write` wants to have read what it replaces.
 */
export const writing =
  (...texts: string[]) =>
  ({ toolResults, prompts }: RecordedRequest): Turn => {
    const folders = toolResults.filter(({ name }) => name === 'Bash');
    const written = toolResults.filter(({ name }) => name === 'Write');
    if (written.length >= prompts.length) return says('Done.');
    if (folders.length < prompts.length)
      return calls('Bash', { command: 'cat answer.txt 2> /dev/null; rm -f answer.txt; pwd' });
    const folder = folders.at(-1)!.text.split('\n').at(-1)!;
    return calls('Write', { file_path: join(folder, 'answer.txt'), content: texts[written.length]! });
  };
