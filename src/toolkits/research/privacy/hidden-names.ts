import { ToolError } from '../../../contract/errors.ts';
import type { Principal } from '../../../contract/principal.ts';
import { JOINER } from '../project/source-text.ts';
import type { ProjectReader } from '../project/types.ts';
import type { ResearchServices } from '../services.ts';
import { sessionOf } from '../session.ts';
import type { PrivacyView } from './privacy-view.ts';

/**
 * The name under which a source of an agent is stored. An agent must not learn from a collision that a source it may not
 * see has the name, so its own source gets the name with a sign that no one sees.
 */
export function freeName(name: string, project: ProjectReader, { reader }: PrivacyView): string {
  const visible = new Set(reader.sources().map((source) => source.name));
  if (visible.has(name)) return name;
  const taken = new Set(project.sources().map((source) => source.name));
  let free = name;
  while (taken.has(free)) free += JOINER;
  return free;
}

/** An agent that tries out names by writing them into the codebook would read which of them are replaced. */
export async function refuseHiddenNames(
  words: readonly (string | undefined)[],
  services: ResearchServices,
  principal: Principal | undefined,
): Promise<void> {
  const { lens } = await sessionOf(services, principal);
  if (!words.some((text) => text !== undefined && lens.mask(text) !== text)) return;
  throw new ToolError(
    'validation_error',
    'Names of people are not allowed here. Describe the idea without naming a person.',
  );
}
