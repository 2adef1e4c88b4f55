// What callers of a server need.

export { RemoteError } from '../http/remote-error.ts';
export { type RpcRemoteOptions, rpcRemote } from './remote.ts';

// What both ends of the RPC interface need.

export { entryFromRpc, entryToRpc, newEntryFromRpc, newEntryToRpc } from './job-event-codec.ts';
export { statesFromRpc, stateToRpc } from './job-states.ts';
export * from './values.ts';
