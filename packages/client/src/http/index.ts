export { type RemoteOptions, remote } from './remote.ts';
export { RemoteError } from './remote-error.ts';
