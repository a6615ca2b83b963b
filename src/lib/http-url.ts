/** The address of a listener; an IPv6 address stands in brackets there. */
export const httpUrl = (host: string, port: number | string): string =>
  `http://${host.includes(':') ? `[${host}]` : host}:${port}`;

/** The name by which programs on the same machine reach it: one that listens everywhere or on 127.0.0.1 is `localhost`. */
export const localHostOf = (host: string): string =>
  ['0.0.0.0', '::', '127.0.0.1'].includes(host) ? 'localhost' : host;
