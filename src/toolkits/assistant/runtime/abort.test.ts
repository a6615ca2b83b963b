import { describe, expect, it } from 'vitest';
import { isTimeoutReason } from './abort.ts';

const circular = new Error('user');
circular.cause = circular;

describe('the reason of a cancel', () => {
  it.each([
    'McpError: MCP error -32001: Request timed out',
    'timeout',
    'Request time-out',
    new DOMException('The operation was aborted due to timeout', 'TimeoutError'),
    new Error('request timed out after 60000 ms'),
    Object.assign(new Error('gone'), { code: -32001 }),
    new Error('aborted', { cause: new DOMException('x', 'TimeoutError') }),
    { reason: 'Request timed out' },
  ])('is a time-out when it says so: %s', (reason) => {
    expect(isTimeoutReason(reason)).toBe(true);
  });

  it.each([
    undefined,
    null,
    '',
    'User cancelled',
    new DOMException('This operation was aborted', 'AbortError'),
    new Error('Connection closed'),
    42,
    circular,
  ])('is a wish to stop otherwise: %s', (reason) => {
    expect(isTimeoutReason(reason)).toBe(false);
  });
});
