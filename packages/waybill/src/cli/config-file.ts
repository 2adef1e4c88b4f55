import type { Preset } from '../agent-consumer/preset.ts';
import { withPreset } from '../agent-consumer/preset-option.ts';
import type { Config } from '../config/load-config.ts';
import { withEnvFile } from './env-file.ts';
import type { Io } from './io.ts';

export interface Configured {
  io: Io;
  values: Readonly<Record<string, unknown>>;
  config: Config | undefined;
  preset: Preset | undefined;
}

/** Flags and environment of a command; behind them a file of variables, then the preset, then the configuration file. */
export async function withConfigFile(
  values: Readonly<Record<string, unknown>>,
  options: Readonly<Record<string, unknown>>,
  processIo: Io,
): Promise<Configured> {
  const withFile = withEnvFile(values['env-file'] as string | undefined, processIo);
  const { io, preset } = await withPreset(values['preset'] as string | undefined, withFile);
  // Loaded here, so that the commands which read no file do not pay for it.
  const { loadConfig } = await import('../config/load-config.ts');
  const named = values['config'] as string | undefined;
  const config = await loadConfig({ named, env: io.env, flags: values });
  if (config === undefined) return { io, values, config, preset };
  for (const notice of config.notices) io.stderr.write(`waybill: ${notice}\n`);
  const { envWith, valuesWith } = await import('../config/apply-config.ts');
  return {
    io: { ...io, env: envWith(config, io.env) },
    values: valuesWith(config, values, options, io.env),
    config,
    preset,
  };
}
