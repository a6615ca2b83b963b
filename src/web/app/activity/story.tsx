import { useState } from 'react';
import { Link } from 'wouter';
import type { CallStory, StoryStep } from '../../../kernel/views/shapes.ts';
import { lookup } from '../../../lib/lookup.ts';
import { Icon, type IconName } from '../../ui/icon.tsx';
import { UntrustedText } from '../../ui/untrusted-text.tsx';
import { Difference } from './difference.tsx';

type Tone = 'plain' | 'good' | 'warn' | 'bad' | 'accent';

const LOOKS: Readonly<Record<StoryStep['kind'], readonly [IconName, Tone]>> = {
  asked: ['agent', 'plain'],
  evaluated: ['policy', 'warn'],
  edited: ['edit', 'accent'],
  decided: ['check', 'accent'],
  began: ['file', 'good'],
  ended: ['check', 'good'],
  settled: ['check', 'good'],
  undone: ['undo', 'warn'],
};

function lookOf({ kind, text, entry }: StoryStep): readonly [IconName, Tone] {
  if (!entry.valid) return ['warn', 'bad'];
  const [icon, tone] = LOOKS[kind];
  if (kind === 'decided' && /reject|withdrew|Expired/u.test(text)) return ['cross', 'bad'];
  if (kind === 'evaluated' && text.endsWith('allow')) return [icon, 'good'];
  if (kind === 'evaluated' && text.endsWith('deny')) return [icon, 'bad'];
  if (kind === 'ended' && text.startsWith('Outcome unknown')) return ['warn', 'warn'];
  if (kind === 'ended' && !text.startsWith('Done') && !text.startsWith('Dry run')) return ['bad', 'bad'];
  return [icon, tone];
}

/** What happened, step by step. Each step is one audit entry; one that was changed says so. */
export const Story = ({ story, callId }: { readonly story: CallStory; readonly callId: string }) => (
  <section aria-label="Story of this call" className="story">
    <h2>Story of this call</h2>
    {story.entries === 0 ? <p className="muted">No entries.</p> : null}
    <ol className="story-steps">
      {story.steps.map((step, index) => (
        <Step
          // biome-ignore lint/suspicious/noArrayIndexKey: one entry can give two steps, which keep their places
          key={`${step.entry.hash}-${index}`}
          step={step}
          previous={story.steps[index - 1]}
          callId={callId}
        />
      ))}
    </ol>
  </section>
);

interface StepProps {
  readonly step: StoryStep;
  readonly previous: StoryStep | undefined;
  readonly callId: string;
}

function Step({ step, previous, callId }: StepProps) {
  const [open, setOpen] = useState(false);
  const [icon, tone] = lookOf(step);
  const name = step.by?.replace(/^(agent|person|system):/u, '');
  const startsWithName = name !== undefined && step.text.startsWith(`${name} `);
  return (
    <li className={`story-step story-${tone}`}>
      <time
        className="story-time"
        dateTime={step.at}
        title={`${new Date(step.at).toLocaleString('en', { dateStyle: 'medium', timeStyle: 'long' })}\nEntry ${step.entry.hash}`}
      >
        {whenOf(step, previous)}
      </time>
      <span className="story-dot" aria-hidden="true">
        <Icon name={icon} small />
      </span>
      <div className="story-what">
        <p>
          {startsWithName ? (
            <>
              <strong>{name}</strong> {step.text.slice(name.length + 1)}
            </>
          ) : (
            step.text
          )}
          {step.call_id !== null && step.call_id !== callId && step.kind === 'undone' ? (
            <>
              {' '}
              <Link href={`/activity/${step.call_id}`}>Show that call</Link>
            </>
          ) : null}
        </p>
        {step.detail ? (
          <p className="story-detail">
            <UntrustedText
              text={step.kind === 'decided' || step.kind === 'asked' ? quoted(step.detail) : step.detail}
            />
            {step.rule === null ? null : (
              <>
                {' '}
                <Link href={`/policy?rule=${encodeURIComponent(step.rule)}`}>Show the rule</Link>
              </>
            )}
          </p>
        ) : null}
        {step.entry.valid ? null : (
          <p className="story-detail tone-bad">This entry was changed after it was written.</p>
        )}
        {step.kind === 'edited' && step.change === null ? (
          <p className="story-detail">What was changed is no longer stored, or does not match the entry.</p>
        ) : null}
        {step.change ? (
          <>
            <button
              type="button"
              className="link-button small no-print"
              aria-expanded={open}
              onClick={() => setOpen(!open)}
            >
              {open ? 'Hide change' : 'Show change'}
            </button>
            <div className={open ? undefined : 'print-only'}>
              <Difference before={step.change.before} after={step.change.after} />
            </div>
          </>
        ) : null}
      </div>
    </li>
  );
}

const quoted = (words: string): string => (words.startsWith('Signed') ? words : `“${words}”`);

const SHORT_MS = 60_000;

/** The time of day, or how much later than the step before, where that is not long. */
function whenOf({ at }: StoryStep, previous: StoryStep | undefined): string {
  const later = previous === undefined ? SHORT_MS : Date.parse(at) - Date.parse(previous.at);
  if (later < 1) return '';
  if (later < 1000) return `+ ${later} ms`;
  if (later < SHORT_MS) return `+ ${(later / 1000).toFixed(1)} s`;
  return new Date(at).toLocaleTimeString('en-GB');
}

/** “mira asked, dana edited and approved, Countersign ran it. From request to result: 1 min 52 s.” */
export function storySentence({ steps }: CallStory): string {
  const acts: [who: string, what: string[]][] = [];
  const add = (who: string, what: string): void => {
    const last = acts.at(-1);
    if (last?.[0] === who) last[1].push(what);
    else acts.push([who, [what]]);
  };
  for (const step of steps) {
    const who = step.by?.replace(/^(agent|person|system):/u, '') ?? 'Countersign';
    if (step.kind === 'asked' && step.text.endsWith(' asked')) add(who, 'asked');
    else if (step.kind === 'edited') add(who, 'edited');
    else if (step.kind === 'decided' && step.text === `${who} approved`) add(who, 'approved');
    else if (step.kind === 'decided' && step.text === `${who} rejected`) add(who, 'rejected it');
    else if (step.kind === 'decided' && step.text.startsWith('A standing'))
      add('a standing approval', 'answered');
    else if (step.kind === 'ended') add('Countersign', lookup(ENDS, step.text) ?? 'refused it');
    else if (step.kind === 'undone') add(who, 'undid it');
  }
  if (acts.length === 0) return '';
  const text = acts.map(([who, what]) => `${who} ${what.join(' and ')}`).join(', ');
  const [first, last] = [steps[0], steps.at(-1)];
  const took = first && last && steps.length > 1 ? Date.parse(last.at) - Date.parse(first.at) : 0;
  return `${text}.${took > 0 ? ` From request to result: ${duration(took)}.` : ''}`;
}

const ENDS: Readonly<Record<string, string>> = {
  Done: 'ran it',
  Failed: 'tried it and failed',
  'Outcome unknown': 'does not know the outcome',
  'Dry run; nothing was changed': 'made a dry run',
};

function duration(ms: number): string {
  if (ms < 1000) return `${ms} ms`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${seconds % 60} s`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} days`;
}
