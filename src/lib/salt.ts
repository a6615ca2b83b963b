import { randomUUID } from 'node:crypto';

/** 122 random bits as 32 hex digits: what makes a hash of a short value say nothing about it. */
export const newSalt = (): string => {
  const id = randomUUID();
  return id.slice(0, 8) + id.slice(9, 13) + id.slice(14, 18) + id.slice(19, 23) + id.slice(24);
};
