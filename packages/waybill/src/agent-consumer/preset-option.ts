import { didYouMean, WaybillError } from '@waybill/core';
import type { Io } from '../cli/io.ts';
import type { Preset } from './preset.ts';

export const PRESETS = ['agent-consumer'] as const;

export const PRESET_OPTION = {
  preset: { value: 'NAME', about: 'agent-consumer: everything by the variables of docs/agent-consumer.md' },
} as const;

/** The environment with the words of the preset behind it. Its notices go to stderr. */
export async function withPreset(named: string | undefined, io: Io): Promise<{ io: Io; preset: Preset | undefined }> {
  if (named === undefined) return { io, preset: undefined };
  if (!PRESETS.some((name) => name === named)) {
    const message = `--preset must be ${PRESETS.join(' or ')}, not '${named}'.${didYouMean(named, PRESETS)}`;
    throw new WaybillError('invalid_request', message);
  }
  // Loaded here, so that the commands which have none do not pay for it.
  const { agentConsumer } = await import('./preset.ts');
  const preset = agentConsumer(io.env);
  for (const notice of preset.notices) io.stderr.write(`waybill: ${notice}\n`);
  const set = Object.entries(io.env).filter(([name, value]) => value !== '' || preset.env[name] === undefined);
  return { io: { ...io, env: { ...preset.env, ...Object.fromEntries(set) } }, preset };
}
