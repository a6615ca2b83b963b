import { AsyncLocalStorage } from 'node:async_hooks';
import type { CallToolResult, inputRequired, ServerContext } from '@modelcontextprotocol/server';

/** The protocol's side of a fixture tool's call: the pipeline itself never sees it. */
export interface Exchange {
  readonly context: ServerContext;
  /** What the fixture answers in place of the rendered result. */
  answer: CallToolResult | ReturnType<typeof inputRequired> | undefined;
  /** A protocol error it answers instead. */
  error: Error | undefined;
}

const exchanges = new AsyncLocalStorage<Exchange>();

export const withExchange = async <T>(context: ServerContext, call: () => Promise<T>): Promise<T> => {
  const exchange: Exchange = { context, answer: undefined, error: undefined };
  const rendered = await exchanges.run(exchange, call);
  if (exchange.error) throw exchange.error;
  return (exchange.answer as T | undefined) ?? rendered;
};

export function currentExchange(): Exchange {
  const exchange = exchanges.getStore();
  if (!exchange) throw new Error('A fixture tool was called outside the protocol.');
  return exchange;
}
