import type { Step } from '../call.ts';

/** The tool's own semantic check. After replay, because a repeated post is a duplicate only when it is a new call. */
export const checkMeaning = (): Step => async (call, next) => {
  const { tool, services } = call.request.bound;
  if (tool.check) await tool.check(call.args, await services());
  return next();
};
