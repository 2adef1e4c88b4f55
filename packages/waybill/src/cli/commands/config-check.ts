import { WaybillError } from '@waybill/core';
import { CONFIG_NAMES } from '../../config/find-config.ts';
import { command } from '../command.ts';

export const configCheck = command({
  name: 'config check',
  section: 'Servers and workers',
  summary: 'check the configuration file',
  args: '[FILE]',
  usesStore: false,
  notes: `Checks names, values and references to variables, and opens nothing. Without FILE it takes WAYBILL_CONFIG, else
waybill.config.yaml, .yml, .ts, .mjs, .js or .json of this folder. All problems are printed at once.`,
  run: async ({ args: [named] }, context) => {
    const { tryConfig } = await import('../../config/try-config.ts');
    const config = await tryConfig({ named, env: context.io.env });
    if (config === undefined) {
      throw new WaybillError('not_found', 'There is no configuration file in this folder.', {
        hint: `Name one, or write ${CONFIG_NAMES[0]}. docs/configuration.md begins with an example.`,
      });
    }
    const { file, notices, found } = config;
    for (const notice of notices) context.io.stderr.write(`waybill: ${notice}\n`);
    context.show({ file, keys: found.length, notices }, () => `${file} is valid, with ${keysText(found.length)}\n`);
    return 0;
  },
});

const keysText = (count: number): string => (count === 1 ? '1 key' : `${count} keys`);
