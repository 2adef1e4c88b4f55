interface Sending {
  send(...args: never[]): unknown;
}

/** As AWS refuses what a policy does not allow: emulators know no policies. */
export function denied(action: string, resource: string): Error {
  const who = 'arn:aws:iam::123456789012:user/jobs';
  const message = `User: ${who} is not authorized to perform: ${action} on resource: ${resource} because no identity-based policy allows the action`;
  return Object.assign(new Error(message), { name: 'AccessDeniedException', $fault: 'client' });
}

/** The same client, whose calls fail where this answers an error. */
export function refusing<C extends Sending>(
  client: C,
  refuse: (command: string, input: Record<string, unknown>) => Error | undefined,
): C {
  const send = (...args: Parameters<C['send']>) => {
    const command = args[0] as unknown as { constructor: { name: string }; input: Record<string, unknown> };
    const error = refuse(command.constructor.name.replace('Command', ''), command.input);
    return error ? Promise.reject(error) : client.send(...args);
  };
  return { send } as unknown as C;
}
