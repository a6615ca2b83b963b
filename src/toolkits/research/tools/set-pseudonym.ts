import { z } from 'zod';
import { principalName } from '../../../contract/principal.ts';
import { requirePerson } from '../lib/person.ts';
import { defineResearchTool } from '../services.ts';

/** For the web app and the command line. The names themselves stay out of the log. */
export const setPseudonym = defineResearchTool({
  name: 'set_pseudonym',
  title: 'Set a pseudonym',
  summary:
    'Replaces a name by a pseudonym in everything agents read. An empty pseudonym takes the name off the map.',
  effect: 'change',
  reach: 'local',
  category: 'privacy',
  profiles: [],
  faults: ['no_project', 'validation_error'],
  privateArgs: ['original'],
  input: z.object({ original: z.string(), pseudonym: z.string() }),
  output: z.object({ pseudonym_count: z.int() }),

  async run({ original, pseudonym }, { services, principal }) {
    requirePerson(principal, 'set pseudonyms');
    const project = await services.projects.current();
    await services.privacy.setPseudonym(project.id, original, pseudonym, principalName(principal));
    return { pseudonym_count: (await services.privacy.rules(project.id)).names.length };
  },
});
