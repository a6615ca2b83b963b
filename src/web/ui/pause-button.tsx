import { post } from './api.ts';
import { Button } from './field.tsx';
import { useSession } from './session.ts';
import { useErrorToast, useToast } from './toast.tsx';

/** Refuses new changes of everyone until a person resumes; one press, because it is needed in a hurry. */
export function PauseButton() {
  const { session, refresh } = useSession();
  const say = useToast();
  const describeError = useErrorToast();
  const toggle = async (): Promise<void> => {
    await post(session.paused ? '/resume' : '/pause');
    await refresh();
    if (session.paused) say('Resumed. Changes can run again, subject to policy.', { tone: 'good' });
  };
  return (
    <Button
      small
      className="button-minor"
      icon={session.paused ? 'right' : 'pause'}
      tone={session.paused ? 'primary' : 'plain'}
      onClick={() => toggle().catch(describeError)}
    >
      {session.paused ? 'Resume changes' : 'Pause all changes'}
    </Button>
  );
}
