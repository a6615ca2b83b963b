import type { PasskeyMode } from '../../../contract/passkeys.ts';

const WORDS: Readonly<Record<PasskeyMode, string>> = {
  off: 'Off: approvals need no signature, unless a rule requires one',
  destructive: 'Destructive: approvals of destructive calls must be signed',
  always: 'Always: every approval must be signed',
};
const MODES = Object.keys(WORDS) as readonly PasskeyMode[];

interface Props {
  readonly mode: PasskeyMode;
  readonly configured: PasskeyMode;
  readonly busy: boolean;
  onChoose(mode: PasskeyMode): void;
}

/** Which approvals must be signed. Changing it is itself signed, so that an edited file cannot loosen it. */
export function ModeChoice({ mode, configured, busy, onChoose }: Props) {
  return (
    <fieldset className="fieldset">
      <legend>Signed approvals</legend>
      {MODES.map((one) => (
        <label key={one} className="choice">
          <input
            type="radio"
            name="mode"
            checked={mode === one}
            disabled={busy}
            onChange={() => onChoose(one)}
          />
          {WORDS[one]}
        </label>
      ))}
      {configured !== 'off' ? (
        <p className="field-hint">
          The configuration file says <code>{configured}</code>; the stricter of the two applies.
        </p>
      ) : null}
    </fieldset>
  );
}
