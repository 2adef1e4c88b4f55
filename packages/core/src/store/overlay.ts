/** Not a spread: a store may be an object of a class, whose methods are not its own and need their `this`. */
export function overlay<T extends object>(target: T, own: { [K in keyof T]?: T[K] | undefined }): T {
  return new Proxy(target, {
    get: (_, name) => {
      if (name in own) return own[name as keyof T];
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}
