import { describe, expect, it } from 'vitest';
import { asksToStop, isTimeoutReason } from './failures.ts';

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
    'context deadline exceeded',
  ])('is a time-out when it says so: %s', (reason) => {
    expect(isTimeoutReason(reason)).toBe(true);
    expect(asksToStop(reason)).toBe(false);
  });

  it.each([
    'User cancelled',
    'AbortError: This operation was aborted',
    new Error('The task was cancelled.'),
    circular,
  ])('is a wish to stop otherwise: %s', (reason) => {
    expect(isTimeoutReason(reason)).toBe(false);
    expect(asksToStop(reason)).toBe(true);
  });

  it.each([
    undefined,
    null,
    '',
    // What the SDK makes of a cancel without a reason.
    new DOMException('This operation was aborted', 'AbortError'),
  ])('says nothing when there is none, so that the work must not be lost: %s', (reason) => {
    expect(asksToStop(reason)).toBe(false);
  });

  it.each([
    'MCP response future dropped',
    'Client disconnected',
    new Error('Connection closed'),
    new Error('The client left: it sent SIGINT.'),
    new Error('gone', { cause: new Error('Connection closed') }),
  ])('is no wish to stop when it says that no one waits any more: %s', (reason) => {
    expect(asksToStop(reason)).toBe(false);
  });
});
