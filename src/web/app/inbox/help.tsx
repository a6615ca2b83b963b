import { Dialog } from '../../ui/dialog.tsx';

const KEYS = [
  ['j', 'Next approval'],
  ['k', 'Previous approval'],
  ['a', 'Approve or sign the open approval, or review all selected'],
  ['r', 'Reject the open approval, or all selected, with a reason'],
  ['e', 'Edit arguments'],
  ['m', 'Approve, and remember the decision for next time'],
  ['u', 'Undo: call off a decision on hold, or undo the last call, if possible'],
  ['X', 'Select the open approval'],
  ['Shift X', 'Select up to the open approval'],
  ['f', 'Filter'],
  ['/', 'Search'],
  ['n', 'Show new approvals'],
  ['Ctrl k', 'Search or jump to anything'],
  ['Ctrl Enter', 'Confirm a dialog'],
  ['Esc', 'One level back: dialog, filter, selection'],
  ['?', 'Show shortcuts'],
] as const;

export const HelpDialog = ({ onClose }: { onClose(): void }) => (
  <Dialog title="Keyboard shortcuts" onClose={onClose}>
    <dl className="keys">
      {KEYS.map(([keys, what]) => (
        <div key={keys} className="fact">
          <dt>
            {keys.split(' ').map((key) => (
              <kbd key={key}>{key}</kbd>
            ))}
          </dt>
          <dd>{what}</dd>
        </div>
      ))}
    </dl>
  </Dialog>
);
