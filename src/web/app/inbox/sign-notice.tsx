import { useEffect, useState } from 'react';
import { Link } from 'wouter';
import { Field } from '../../ui/field.tsx';
import { Notice } from '../../ui/notice.tsx';
import { signAs } from '../../ui/passkey.ts';

interface Props {
  readonly required: number;
  readonly signed: readonly string[];
  /** Those with a passkey who have not signed yet; the signed-in person comes first. */
  readonly people: readonly string[];
}

const nameOf = (person: string): string => person.replace('person:', '');

/** Says that approving needs a passkey, who has signed, and, where several people can, asks who signs now. */
export function SignNotice({ required, signed, people }: Props) {
  if (required === 0) return null;
  return (
    <Notice>
      <p>
        {required === 1
          ? 'Approving needs your passkey: it signs exactly this call.'
          : `${required} people must sign exactly this call, each with a passkey.`}
        {signed.length > 0 ? ` Signed so far: ${signed.map(nameOf).join(', ')}.` : ''}{' '}
        <Link href="/passkeys">Passkeys</Link>
      </p>
      <SignAs key={people.join()} people={people} />
    </Notice>
  );
}

/** The choice lasts as long as it is on screen: another approval starts with the signed-in person again. */
export function SignAs({ people }: { readonly people: readonly string[] }) {
  const [person, setPerson] = useState(people[0]);
  const isChoice = people.length > 1;
  useEffect(() => {
    signAs(isChoice ? person : undefined);
    return () => signAs(undefined);
  }, [person, isChoice]);
  if (!isChoice) return null;
  return (
    <Field label="Sign as">
      {(attributes) => (
        <select {...attributes} value={person} onChange={(event) => setPerson(event.target.value)}>
          {people.map((one) => (
            <option key={one} value={one}>
              {nameOf(one)}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}
