import { CliError, type GlobalOptions } from '../../contract/command.ts';
import { print, printJson, table } from '../../terminal/output.ts';
import { counted, plainText } from '../../terminal/text.ts';
import { withApp } from '../context.ts';
import { requirePersonHere } from '../person-here.ts';

/** Grouped in fours, as people copy and compare them. */
const readable = (fingerprint: string): string => fingerprint.match(/.{1,4}/g)?.join(' ') ?? fingerprint;

export function listPasskeys(global: GlobalOptions): Promise<void> {
  return withApp(global, async ({ kernel, config }) => {
    const { keys } = await kernel.passkeys.state();
    const required = { configuration: config.approvals.passkey, log: keys.mode };
    if (global.json) {
      return printJson({
        passkeys: keys.list.map(({ fingerprint, person, name, enrolledAt, rpId, origins, endorsedBy }) => ({
          fingerprint,
          person,
          name,
          enrolled_at: enrolledAt,
          rp_id: rpId,
          origins,
          countersigned_by: endorsedBy ?? null,
        })),
        required,
        resets: keys.resets.length,
        reset_history: keys.resets.map(({ at, by, removed }) => ({ at, by, removed })),
      });
    }
    const resets =
      keys.resets.length > 0
        ? [
            `All passkeys were reset ${counted(keys.resets.length, 'time')}. Earlier keys do not vouch for later ones.`,
            ...keys.resets.map(
              ({ at, by, removed }) =>
                `  ${at.slice(0, 16).replace('T', ' ')} by ${plainText(by)}: ${counted(removed, 'passkey')} removed without a signature`,
            ),
          ].join('\n')
        : undefined;
    if (keys.list.length === 0) {
      print('No passkeys are enrolled. Run `countersign open`, then choose Passkeys in the web app.');
      if (resets) print(resets);
      return;
    }
    print(
      table(
        ['FINGERPRINT', 'PERSON', 'NAME', 'ENROLLED', 'PAGE'],
        keys.list.map((key) => [
          readable(key.fingerprint),
          key.person,
          plainText(key.name),
          key.enrolledAt.slice(0, 16).replace('T', ' '),
          key.origins.join(', '),
        ]),
      ),
    );
    print(
      `\nSigned approvals: ${required.log} (signed in the audit log), ${required.configuration} (configuration); the stricter applies.`,
    );
    if (resets) print(resets);
    print('Store the fingerprints elsewhere: `countersign audit verify --signer FINGERPRINT` compares them.');
  });
}

const required = (mode: string): string =>
  mode === 'off'
    ? 'New approvals need no signature unless a rule requires one. Those that already required one when they were requested still do: enrol a key and sign, or reject them.'
    : `The configuration still requires signatures (approvals.passkey = "${mode}"): enrol a key in the web app.`;

/** Needs no signature, because a person who needs it has no key left. The log shows it permanently. */
export function resetPasskeys(global: GlobalOptions, options: { yes?: boolean }): Promise<void> {
  return withApp(global, async (app) => {
    const { kernel, person, config } = app;
    const { keys } = await kernel.passkeys.state();
    if (keys.list.length === 0) throw new CliError('No passkeys are enrolled, so there is nothing to reset.');
    if (!options.yes)
      throw new CliError(
        `This removes ${counted(keys.list.length, 'passkey')} without a signature and switches signed approvals off in the audit log. This cannot be undone, and \`audit verify\` always reports it. Repeat with --yes.`,
        2,
      );
    await requirePersonHere(app);
    await kernel.passkeys.reset(person);
    if (global.json) return printJson({ reset: true, given_up: keys.list.length });
    print(`Removed ${counted(keys.list.length, 'passkey')}. ${required(config.approvals.passkey)}`);
  });
}
