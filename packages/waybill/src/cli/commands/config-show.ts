import { command } from '../command.ts';
import { LOG_OPTION } from '../command-logger.ts';
import { SERVE_OPTIONS } from '../serve-options.ts';
import { table } from '../table.ts';
import { WORK_OPTIONS } from '../work-options.ts';

export const configShow = command({
  name: 'config show',
  section: 'Servers and workers',
  summary: 'show which settings count, and where each comes from',
  takesTenant: true,
  takesKey: true,
  options: {
    config: { value: 'FILE', about: 'the configuration file', default: 'WAYBILL_CONFIG, waybill.config.* here' },
    ...SERVE_OPTIONS,
    ...WORK_OPTIONS,
    ...LOG_OPTION,
  },
  notes: `Takes the flags of serve and work, so that a command line can be tried. Flags beat the environment, which beats
the file, which beats the defaults. Secrets are shown as ***, addresses without user, password and values of parameters.`,
  run: async ({ values }, context) => {
    const { tryConfig } = await import('../../config/try-config.ts');
    const { effectiveSettings } = await import('../../config/effective-settings.ts');
    const { env, stderr } = context.io;
    const { config: named, json: _json, ...flags } = values as Record<string, unknown> & { config?: string };
    const config = await tryConfig({ named, env, flags });
    for (const notice of config?.notices ?? []) stderr.write(`waybill: ${notice}\n`);
    const settings = effectiveSettings({ config, values: flags, env });
    const text = () =>
      `${config === undefined ? 'no configuration file' : `file ${config.file}`}\n\n${table(
        settings,
        [
          { title: 'KEY', of: ({ key }) => key },
          { title: 'VALUE', of: ({ value }) => (value === null ? '-' : String(value)), least: 12 },
          { title: 'SOURCE', of: ({ source }) => source },
        ],
        context,
      )}`;
    context.show({ file: config?.file ?? null, settings }, text);
    return 0;
  },
});
