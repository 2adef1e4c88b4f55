import type { Sinks } from '../../sinks/sink.ts';
import { type Case, FORBIDDEN } from './case.ts';

const KEY = { tenant: 'a', id: 's1' };

const nobody = (call: Case['call']): Case => ({
  ...{ scope: null, takesNone: true, right: FORBIDDEN, stranger: FORBIDDEN, narrowed: FORBIDDEN, call },
});

export const SINK_CASES: { [M in keyof Sinks]: Case } = {
  run: nobody(async ({ sinks }) => sinks!.run({ list: async () => [] })),
  tenantsWith: nobody(({ sinks }) => sinks!.tenantsWith('note')),
  open: nobody(({ sinks }) => sinks!.open({} as never)),
  state: nobody(({ sinks }) => sinks!.state(KEY)),
  pause: nobody(({ sinks }) => sinks!.pause(KEY, 'no')),
  resume: nobody(({ sinks }) => sinks!.resume(KEY)),
  moveTo: nobody(({ sinks }) => sinks!.moveTo(KEY, null)),
};
