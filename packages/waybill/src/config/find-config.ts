import { existsSync, statSync } from 'node:fs';
import path from 'node:path';
import { WaybillError } from '@waybill/core';
import { shownWord } from '../connect/shown-address.ts';

export const CONFIG_NAMES = ['yaml', 'yml', 'ts', 'mjs', 'js', 'json'].map((ending) => `waybill.config.${ending}`);

/** For commands that read the file. */
export const CONFIG_OPTION = {
  config: { value: 'FILE', about: 'the configuration file', default: 'WAYBILL_CONFIG, waybill.config.* here' },
} as const;

/** The file that was named, else the one in the folder; undefined where there is none. */
export function findConfig(named: string | undefined, folder: string): string | undefined {
  if (named !== undefined) {
    const file = path.resolve(folder, named);
    if (isFile(file)) return file;
    throw new WaybillError('invalid_request', `There is no configuration file ${shownWord(named)}.`, {
      hint: 'Check --config or WAYBILL_CONFIG. A path counts from the folder in which the command runs.',
    });
  }
  const here = CONFIG_NAMES.filter((name) => isFile(path.join(folder, name)));
  if (here.length > 1) {
    throw new WaybillError('invalid_request', `There are several configuration files: ${here.join(' and ')}.`, {
      hint: 'Keep one of them, or name one with --config FILE.',
    });
  }
  return here[0] === undefined ? undefined : path.join(folder, here[0]);
}

const isFile = (file: string): boolean => existsSync(file) && statSync(file).isFile();
