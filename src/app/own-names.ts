import type { Exposure } from '../catalogue/exposure.ts';
import type { BoundTool } from '../contract/toolkit.ts';

/** The server's own names in place of ours. Policy, approvals and evidence know the tools as `NAME__tool` all the same. */
export function withOwnNames(exposure: Exposure, server: string): Exposure {
  const ownName = ({ tool, toolkit }: BoundTool): string =>
    toolkit.id === server && typeof tool.definition?.name === 'string' ? tool.definition.name : tool.name;
  const real = async (name: string): Promise<BoundTool | undefined> =>
    (await exposure.listed()).find((owned) => ownName(owned) === name);
  return {
    options: exposure.options,
    get mayTakeLong() {
      return exposure.mayTakeLong;
    },
    // Another list whenever the tools are others, which is how a listing knows that it must be made again.
    get names() {
      return exposure.names;
    },
    get reachable() {
      return exposure.reachable;
    },
    listed: async () =>
      (await exposure.listed()).map((owned) => ({ ...owned, tool: { ...owned.tool, name: ownName(owned) } })),
    find: real,
    reach: real,
  };
}
